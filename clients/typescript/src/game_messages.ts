import { type Message, toBinary } from "@bufbuild/protobuf";
import { type GameEvent, GameEventSchema } from "./gen/cardarena/v1/game_pb.js";

const SCHEMAS = new Map(
  GameEventSchema.oneofs[0]?.fields.map((field) => [field.localName, field.message]),
);

/** The games' own messages in events of any game. */
export function gameMessages(events: readonly GameEvent[]): Message[] {
  return events.flatMap(({ game }) => (game.value ? [game.value] : []));
}

/** The games' own messages in events of any game, encoded with fields in the order of their numbers. */
export function encodedEvents(events: readonly GameEvent[]): Uint8Array[] {
  return events.flatMap(({ game }) => {
    const schema = SCHEMAS.get(game.case ?? "");
    return schema && game.value ? [toBinary(schema, game.value)] : [];
  });
}

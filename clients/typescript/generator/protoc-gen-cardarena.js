#!/usr/bin/env node
// A protoc plugin that writes a module for each family of games: its messages under short names,
// constructors of its moves, and a bot whose asks have its types. The comment of a verb in the
// proto names the fields that it uses, as "uses `card`".
import { ScalarType } from "@bufbuild/protobuf";
import { createEcmaScriptPlugin, getComments, runNodeJs } from "@bufbuild/protoplugin";

const FOLDER = "cardarena/games/v1/";
const USES = /;\s+uses\s+(.*?)(?:\.|$)/s;
/** Text fields that are not cards. */
const TEXTS = { suit: "suit", text: "text" };

const plugin = createEcmaScriptPlugin({
  name: "protoc-gen-cardarena",
  version: "v1",
  generateTs(schema) {
    for (const file of schema.files) {
      const ask = file.messages.find((message) => message.name.endsWith("Ask"));
      if (file.name.startsWith(FOLDER) && ask) {
        const out = schema.generateFile(`games/${file.name.slice(FOLDER.length)}.ts`);
        new Family(file, ask.name.slice(0, -"Ask".length), (line) => out.print(line)).write();
      }
    }
  },
});

class Family {
  constructor(file, prefix, print) {
    this.file = file;
    this.prefix = prefix; // of its messages, such as SixtySix
    this.name = file.name.slice(FOLDER.length); // its field in oneof game, such as sixty_six
    this.title = this.name.split("_").map(capital).join(" ");
    this.move = file.messages.find((message) => message.name === `${prefix}Move`);
    this.verbs = file.enums.find((one) => one.name === `${prefix}Verb`);
    this.print = print;
  }

  write() {
    this.imports();
    this.types();
    this.constructors();
    this.bets();
    this.bots();
  }

  short(name) {
    return name.slice(this.prefix.length);
  }

  /** The messages with short names. The ask is a class of the SDK. */
  messages() {
    return this.file.messages.filter((message) => message.name !== `${this.prefix}Ask`);
  }

  imports() {
    const { print, prefix, name, title } = this;
    const fields = this.verbs.values.flatMap((verb) => this.used(verb));
    const checks = [...new Set(fields.map((field) => checkOf(field)).filter(Boolean))].sort();
    const types = this.messages().map(
      (message) => `type ${message.name} as ${this.short(message.name)}`,
    );
    const enums = this.file.enums.map((one) => `${one.name} as ${this.short(one.name)}`);
    print("// Generated from proto/ by scripts/proto: do not edit.");
    print("");
    print(`/**
 * ${title}: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */`);
    print('import { create, type MessageInitShape } from "@bufbuild/protobuf";');
    print('import * as sdk from "../ask.js";');
    if (this.hasBets()) {
      print('import { type Bets, betsOf } from "../bets.js";');
    }
    print('import type { Bot as AnyBot, Player } from "../bot.js";');
    if (checks.length > 0) {
      print(`import { ${checks.join(", ")} } from "../checks.js";`);
    }
    print('import { gamesOf } from "../families.js";');
    print("import {");
    const schemas = ["Ask", "Move"].map((one) => `${prefix}${one}Schema as ${one}Schema`);
    for (const one of [...types, ...enums, ...schemas]) {
      print(`  ${one},`);
    }
    print(`} from "../gen/${this.file.name}_pb.js";`);
    print('import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";');
    print("");
    print(`/** The ids of the family's games. */`);
    print(`export const games: readonly string[] = gamesOf("${name}");`);
    print("");
  }

  types() {
    this.print(
      `export type { ${this.messages()
        .map((one) => this.short(one.name))
        .join(", ")} };`,
    );
    this.print(`export { ${this.file.enums.map((one) => this.short(one.name)).join(", ")} };`);
    this.print("");
  }

  constructors() {
    const { print } = this;
    print("/**");
    print(
      " * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a",
    );
    print(
      " * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.",
    );
    print(" * They do not check whether the move is legal.");
    print(" */");
    print("export const moves = {");
    for (const verb of this.verbs.values.slice(1)) {
      const fields = this.used(verb);
      const does = oneLine(getComments(verb).leading).split("; uses")[0].replace(/\.$/, "");
      const parameters = fields.map(
        (field) => `${field.localName}${isOptional(field) ? "?" : ""}: ${this.typeOf(field)}`,
      );
      const sets = fields.map((field) => this.setOf(field));
      const values = [`verb: Verb.${verb.localName}`, ...sets].join(", ");
      print(`  /** The move: ${lower(does)}. */`);
      print(`  ${camel(verb.localName)}(${parameters.join(", ")}): Move {`);
      print(`    return create(MoveSchema, { ${values} });`);
      print("  },");
    }
    print("};");
    print("");
  }

  /** Writes the range of bets, if the view has one. */
  bets() {
    const { print } = this;
    if (this.hasBets()) {
      print("/** The range of a bet or raise of the seat to act; undefined if it may not bet. */");
      print("export function bets(view: View): Bets | undefined {");
      print("  return betsOf(view.minTo, view.maxTo);");
      print("}");
      print("");
    }
  }

  hasBets() {
    const view = this.file.messages.find((message) => message.name === `${this.prefix}View`);
    return ["min_to", "max_to"].every((name) => view.fields.some((field) => field.name === name));
  }

  bots() {
    const { print, title } = this;
    print("/** One decision of a seat, with everything that the seat can see. */");
    print("export type Ask = sdk.Ask<View, Move, Event>;");
    print("");
    print(`/** Plays one match of ${title}. */`);
    print("export type Bot = AnyBot<Ask>;");
    print("");
    print(`/** A player of ${title}. The function makes the bot of each match. */`);
    print("export function player(name: string, bot: (match: sdk.Match) => Bot): Player<Ask> {");
    print("  return { name, games, bot };");
    print("}");
    print("");
    print("/**");
    print(
      " * An ask for the test of a bot, at seat 0 with a minute of time, unless `start` has other terms.",
    );
    print(" * The moves are all legal moves, unless `movesComplete` is false.");
    print(" */");
    print("export function newAsk(");
    print("  ask: MessageInitShape<typeof AskSchema>,");
    print("  start: MessageInitShape<typeof MatchStartSchema> = {},");
    print("): Ask {");
    print("  const value = create(AskSchema, { movesComplete: true, ...ask });");
    print(`  const body = { case: "${localName(this.name)}", value } as const;`);
    print('  return sdk.newAsk(games[0] ?? "", body, start);');
    print("}");
  }

  /** The fields that a verb's comment names, in that order. */
  used(verb) {
    const found = USES.exec(getComments(verb).leading ?? "");
    const names = found ? [...found[1].matchAll(/`([a-z_]+)`/g)].map((name) => name[1]) : [];
    return names.map((name) => this.move.fields.find((field) => field.name === name));
  }

  /** The value of a move's field, made from the parameter of the same name. */
  setOf(field) {
    const name = field.localName;
    const check = checkOf(field);
    if (!check) {
      return name;
    }
    const calls = {
      checkWholeNumber: () => `checkWholeNumber("${name}", ${name})`,
      checkEnum: () => `checkEnum("${name}", ${name}, ${this.short(field.enum.name)})`,
    };
    const checked = calls[check]?.() ?? `${check}(${name})`;
    return isOptional(field)
      ? `...(${name} !== undefined && { ${name}: ${checked} })`
      : `${name}: ${checked}`;
  }

  typeOf(field) {
    const kind = kindOf(field);
    const one = {
      card: "string",
      suit: '"c" | "d" | "h" | "s"',
      text: "string",
      whole: "number",
      flag: "boolean",
    };
    const type = kind === "enum" ? this.short(field.enum.name) : one[kind];
    return field.fieldKind === "list" ? `readonly ${type}[]` : type;
  }
}

function kindOf(field) {
  if (field.enum) {
    return "enum";
  }
  if (field.scalar === ScalarType.STRING) {
    return TEXTS[field.name] ?? "card";
  }
  const kind = { [ScalarType.BOOL]: "flag", [ScalarType.UINT32]: "whole" }[field.scalar];
  if (!kind) {
    throw new Error(`unsupported field ${field.name} of a move`);
  }
  return kind;
}

function checkOf(field) {
  const kind = kindOf(field);
  const checks = {
    card: "checkCard",
    suit: "checkSuit",
    whole: "checkWholeNumber",
    enum: "checkEnum",
  };
  return kind === "card" && field.fieldKind === "list" ? "checkCards" : checks[kind];
}

/** Whether the field is optional in the moves of verbs that use it. */
function isOptional(field) {
  return field.proto.proto3Optional || /unspecified/i.test(getComments(field).leading ?? "");
}

/** A field's name as that of a property: sixty_six is sixtySix. */
function localName(field) {
  return field.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
}

function oneLine(text) {
  return (text ?? "").trim().split(/\s+/).join(" ");
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function lower(text) {
  return text[0].toLowerCase() + text.slice(1);
}

/** A constant's name as a function's: TAKE_PILE is takePile. */
function camel(constant) {
  return localName(constant.toLowerCase());
}

runNodeJs(plugin);

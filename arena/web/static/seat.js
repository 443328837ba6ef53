// A bot over a WebSocket: random moves, every game; see docs/websocket.md.
"use strict";

function play(address, hello, show) {
  const socket = new WebSocket(address);
  const send = (message) => socket.send(JSON.stringify(message));
  const any = (moves) => Math.floor(Math.random() * moves.length);
  socket.onopen = () => send({ hello });
  socket.onmessage = ({ data }) => {
    const { match_start: start, match_end: end, ask, log } = JSON.parse(data);
    if (start) show(`${start.terms.game} ${start.match}, seat ${start.seat}`);
    if (ask) send({ ask_id: ask.ask_id, index: any(ask.move_texts) });
    if (end) show(`match ${end.match}: ${end.ending}, scores ${end.scores}`);
    if (log) show(log);
  };
  socket.onclose = ({ code, reason }) => show(`closed (${code}) ${reason}`);
  return socket;
}

globalThis.document?.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("seat");
  const lines = document.getElementById("lines");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { token, game } = Object.fromEntries(new FormData(form));
    const address = `${location.origin.replace("http", "ws")}/seat`;
    const hello = { token, games: game ? [game] : [] };
    play(address, hello, (line) => lines.append(`${line}\n`));
  });
});

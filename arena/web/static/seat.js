// A bot over a WebSocket: it plays a random legal move in every game.
// docs/websocket.md describes the messages.
"use strict";

function play(address, hello, show) {
  const socket = new WebSocket(address);
  socket.onopen = () => socket.send(JSON.stringify({ hello }));
  socket.onmessage = ({ data }) => {
    const { match_start, ask, match_end, log } = JSON.parse(data);
    if (match_start) {
      const { match, terms, seat } = match_start;
      show(`match ${match}: ${terms.game}, seat ${seat}`);
    }
    if (ask) {
      const index = Math.floor(Math.random() * ask.move_texts.length);
      socket.send(JSON.stringify({ ask_id: ask.ask_id, index }));
    }
    if (match_end) {
      const { match, ending, scores } = match_end;
      show(`match ${match}: ${ending}, scores ${scores}`);
    }
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

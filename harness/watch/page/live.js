// Shared by the pages: numbers for people, what the server says, and the connection to it.
"use strict";
const REFUSED = 5000; // milliseconds for which it is shown that a wish was refused
const byId = (id) => document.getElementById(id);
let socket = null, refusedUntil = 0;

const grouped = (number) => number === null ? "–" : number.toLocaleString("en", { maximumFractionDigits: 3 });

function duration(seconds) {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return seconds < 3600 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function showError(text) {
  byId("error").hidden = !text;
  byId("error").textContent = text ?? "";
}

function showConsole(lines) {
  const box = byId("console"), atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
  const text = lines.join("\n");
  if (box.textContent === text) return;
  box.textContent = text;
  if (atEnd) box.scrollTop = box.scrollHeight;
}

function cell(content, kind = "td") {
  const made = document.createElement(kind);
  made.append(content);
  return made;
}

function showRefused(message) {
  if (message.refused === undefined) return false;
  refusedUntil = Date.now() + REFUSED;
  showError(message.refused);
  return true;
}

// Connects to the server, again and again until the work is over; show(message) is called for each message.
function connect(show, isOver) {
  if (location.search) window.history.replaceState(null, "", "/"); // the token; a cookie has it now
  socket = new WebSocket(`ws://${location.host}/live`);
  socket.addEventListener("message", (message) => show(JSON.parse(message.data)));
  socket.addEventListener("close", () => {
    if (isOver()) return;
    byId("state").textContent = "The connection is lost.";
    setTimeout(connect, 1000, show, isOver);
  });
}

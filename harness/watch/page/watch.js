// The page of a run: shows what the server says, and sends what its user wants.
"use strict";
const MOST_PLOTS = 8, POINTS = 300; // of a plot
const changes = new Map(); // statistic -> its changes per second
const plotted = new Set();
const none = byId("none");
let before = null, shown = "", over = false, drawn = 0;
const WITHOUT = "Export the netlist with lss export MACHINE -o netlist.json, and pass --netlist netlist.json to spinach watch. "
  + "Build the machine with --collect connections, unless it is a network.";

function showState(run) {
  const cycles = Object.entries(run.cycles ?? {}).map(([clock, count]) => `${grouped(count)} cycles of ${clock}`);
  const time = run.time_fs === undefined ? "starting" : `${grouped(run.time_fs / 1e12)} ms`;
  over = run.status !== null;
  byId("state").textContent = over ? `Over: ${run.ended ?? "the simulator ended"} (status ${run.status})`
    : run.command ? `Running: ${run.command}` : run.going ? "Running" : "Paused";
  const speed = run.per_second > 0 ? [`${grouped(run.per_second / 1e6)} M cycles/s`] : [];
  const fastest = Math.max(0, ...Object.values(run.cycles ?? {}));
  const rest = run.share > 0 && run.per_second > 0 && !over
    ? [`about ${duration(fastest / run.share * (1 - run.share) / run.per_second)} to go`] : [];
  byId("far").textContent = [time, ...cycles, ...speed, ...rest].join(" · ");
  byId("share").hidden = run.share === null || run.share === undefined;
  if (!byId("share").hidden) byId("share").value = run.share;
  if (Date.now() > refusedUntil) showError(run.error);
  byId("command").textContent = run.command ?? (run.paused || over ? "" : "cycle N, cycle N, …");
  for (const button of document.querySelectorAll("button")) button.disabled = over;
}

function showBlocked(run) {
  const items = run.blocked === null || run.blocked === undefined
    ? ["Build the machine with --debug to see which ports wait."]
    : run.blocked.map((one) => one.accepted ? `${one.from} does not commit ${one.item}, which ${one.to} accepts`
      : `${one.from} offers ${one.item} and waits for ${one.to}`);
  byId("blocked").replaceChildren(...(items.length ? items : ["No port waits."]).map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
}

// The diagram is drawn on the server; its titles are tooltips, so it becomes a part of the page.
async function showGraph(graph) {
  byId("no-graph").textContent = graph === null ? WITHOUT
    : graph.error ?? (graph.number ? graph.network ? "Each cable shows the share of the time in which its busier direction carries frames."
      : "Each line shows the share of the time in which an item waits on it." : "The diagram is drawn once the run has begun.");
  if (!graph?.number || graph.number === drawn) return;
  drawn = graph.number;
  const answer = await fetch("graph.svg");
  if (!answer.ok) return;
  const made = new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement;
  byId("graph").replaceChildren(document.importNode(made, true));
  byId("graph").hidden = false;
}

function rowOf(name) {
  const row = document.createElement("tr"), box = document.createElement("input");
  box.type = "checkbox";
  box.ariaLabel = `plot ${name}`;
  box.addEventListener("change", () => {
    if (box.checked && plotted.size >= MOST_PLOTS) box.checked = false;
    box.checked ? plotted.add(name) : plotted.delete(name);
    showPlots();
  });
  row.dataset.name = name;
  row.append(cell(box), cell(name), cell(""), cell(""), cell(""));
  return row;
}

function showTable(run) {
  const now = performance.now() / 1000, values = new Map(run.statistics.map(([name, value]) => [name, value]));
  const rows = new Map([...byId("table").children].map((row) => [row.dataset.name, row]));
  for (const [name, value, unit] of run.statistics) {
    const row = rows.get(name) ?? byId("table").appendChild(rowOf(name));
    const change = before && before.values.has(name) ? (value - before.values.get(name)) / (now - before.now) : null;
    row.children[2].textContent = grouped(value);
    row.children[3].textContent = change === null ? "–" : grouped(Math.round(change));
    row.children[4].textContent = unit;
    row.hidden = !name.includes(byId("filter").value);
    if (change !== null) changes.set(name, [...(changes.get(name) ?? []), change].slice(-POINTS));
  }
  before = { now, values };
  showPlots();
}

function plot(name) {
  const points = changes.get(name) ?? [], top = Math.max(1e-9, ...points), space = "http://www.w3.org/2000/svg";
  const figure = document.createElement("figure"), caption = document.createElement("figcaption");
  const picture = document.createElementNS(space, "svg"), line = document.createElementNS(space, "polyline");
  picture.setAttribute("viewBox", `0 0 ${POINTS} 100`);
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `${name}, change per second`);
  line.setAttribute("points", points.map((value, at) => `${at},${100 - 96 * Math.max(value, 0) / top}`).join(" "));
  caption.textContent = `${name}: ${grouped(Math.round(points.at(-1) ?? 0))} per second, at most ${grouped(Math.round(top))}`;
  picture.append(line);
  figure.append(picture, caption);
  return figure;
}

function showPlots() {
  byId("plots").replaceChildren(...(plotted.size ? [...plotted].map(plot) : [none]));
}

function show(run) {
  if (showRefused(run)) return;
  showState(run);
  showConsole(run.console);
  showBlocked(run);
  showGraph(run.graph).catch(() => { drawn = 0; }); // it is fetched with the next one
  if (run.statistics && JSON.stringify(run.statistics) !== shown) {
    shown = JSON.stringify(run.statistics);
    showTable(run);
  }
}

const signals = { pause: "SIGINT, if a command is running", go: "cycle N, again and again" };
for (const button of document.querySelectorAll("button")) {
  const field = document.getElementById(button.dataset.do);
  const explain = () => { button.title = field ? `${button.dataset.do} ${field.value}` : signals[button.dataset.do]; };
  field?.addEventListener("input", explain);
  explain();
  button.addEventListener("click", () => {
    socket.send(JSON.stringify({ do: button.dataset.do, value: field ? field.value : "" }));
  });
}
byId("commands").addEventListener("submit", (event) => event.preventDefault());
byId("filter").addEventListener("input", () => {
  for (const row of byId("table").children) row.hidden = !row.dataset.name.includes(byId("filter").value);
});
connect(show, () => over);

// The page of a network: a slider chooses an interval, whose loads are shown in the picture and in the tables.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id), space = "http://www.w3.org/2000/svg";
const grouped = (number) => number.toLocaleString("en");
const percent = (share) => share === null ? "–" : `${(100 * share).toFixed(share && share < 0.1 ? 1 : 0)} %`;
const shade = (share) => data.colours[data.steps.filter((step) => share >= step).length];

function overTime(values) {
  const picture = document.createElementNS(space, "svg"), line = document.createElementNS(space, "polyline");
  const top = Math.max(1e-9, ...values), last = Math.max(1, values.length - 1);
  picture.setAttribute("class", "over");
  picture.setAttribute("viewBox", "0 0 100 20");
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `at most ${top < 1e-6 ? 0 : top.toPrecision(3)}`);
  line.setAttribute("points", values.map((value, at) => `${(100 * at / last).toFixed(1)},${(19 - 18 * value / top).toFixed(1)}`).join(" "));
  picture.append(line);
  return picture;
}

function row(cells) {
  const made = document.createElement("tr");
  for (const content of cells) {
    const cell = document.createElement("td");
    if (/^[\d–]/.test(content)) cell.className = "number";
    cell.append(content);
    made.append(cell);
  }
  return made;
}

function setTitle(group, text) {
  const title = group.querySelector("title") ?? group.insertBefore(document.createElementNS(space, "title"), group.firstChild);
  title.textContent = text;
  for (const link of group.querySelectorAll("a")) link.removeAttributeNS("http://www.w3.org/1999/xlink", "title");
}

const intervals = data.intervals.length - 1; // the last entry is the whole run
const over = (pick) => data.intervals.slice(0, intervals).map(pick);

function show(at) {
  const interval = data.intervals[at];
  byId("when").textContent = at < intervals ? `${interval.from} ms to ${interval.to} ms` : `the whole run, ${interval.to} ms`;
  const directions = [];
  data.cables.forEach((cable, number) => {
    const loads = interval.loads[number], most = Math.max(0, ...loads.map((load) => load[3] ?? 0));
    const group = byId(`c${number}`), path = group.querySelector("path");
    path.setAttribute("stroke", shade(most));
    path.setAttribute("stroke-width", (1 + 4 * Math.min(most, 1)).toFixed(1));
    const text = group.querySelector("text");
    if (text) text.textContent = most >= data.steps[0] ? percent(most) : "";
    cable.ways.forEach(([from, to], way) => directions.push({ cable: cable.path, from, to, number, way, load: loads[way] }));
    setTitle(group, [cable.path, ...cable.ways.map(([from, to], way) => {
      const [frames, bytes, damaged, share] = loads[way];
      return `${from} → ${to}: ${grouped(frames)} frames, ${grouped(bytes)} bytes, ${percent(share)} of the line` + (damaged ? `, ${grouped(damaged)} damaged` : "");
    })].join("\n"));
  });
  directions.sort((a, b) => (b.load[3] ?? 0) - (a.load[3] ?? 0) || b.load[1] - a.load[1]);
  byId("cables").replaceChildren(...directions.slice(0, data.rows).map(({ cable, from, to, number, way, load }) => row([
    cable, from, to, grouped(load[0]), grouped(load[1]), grouped(load[2]), percent(load[3]),
    overTime(over((one) => one.loads[number][way][3] ?? one.loads[number][way][1]))])));
  data.nodes.forEach((node, number) => {
    const group = byId(`n${number}`), dropped = interval.dropped[number];
    for (const text of group.querySelectorAll("text")) if (text.textContent.endsWith("dropped")) text.textContent = dropped ? `${grouped(dropped)} dropped` : "0 dropped";
    setTitle(group, `${node}: ${grouped(dropped)} frames dropped`);
  });
  const dropping = data.nodes.map((node, number) => ({ node, number, dropped: data.intervals.at(-1).dropped[number] })).filter((one) => one.dropped);
  dropping.sort((a, b) => b.dropped - a.dropped);
  byId("drops").replaceChildren(...(dropping.length ? dropping.slice(0, data.rows).map(({ node, number }) => row([
    node, grouped(interval.dropped[number]), overTime(over((one) => one.dropped[number]))])) : [row(["No part has dropped a frame.", "", ""])]));
}

byId("time").addEventListener("input", () => show(Number(byId("time").value)));
show(intervals);

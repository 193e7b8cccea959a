// The page of a study: a line for each point, which changes as its run goes on.
"use strict";
const points = new Map(); // number -> the latest message about the point, and its row
let ended = false;

function newRow() {
  const row = document.createElement("tr"), bar = document.createElement("progress");
  bar.max = 1;
  row.append(cell(""), cell(""), cell(bar), cell(""), cell(""), cell(""));
  return row;
}

function isShown(point) {
  const wanted = byId("filter").value;
  return [point.name, point.state, point.text].some((text) => text.includes(wanted));
}

function showPoint(point) {
  const row = points.get(point.number)?.row ?? byId("table").appendChild(newRow());
  const [name, state, progress, rest, elapsed, text] = row.children, bar = progress.firstChild;
  const time = (seconds) => seconds === null ? "–" : duration(seconds);
  name.textContent = point.name;
  state.textContent = point.state;
  row.dataset.state = point.state;
  bar.hidden = point.state !== "running" || point.share === null;
  bar.value = point.share ?? 0;
  bar.ariaLabel = `progress of ${point.name}`;
  rest.textContent = time(point.rest);
  elapsed.textContent = time(point.elapsed);
  text.textContent = point.text;
  row.hidden = !isShown(point);
  points.set(point.number, { point, row });
}

function showProgress(study) {
  const counts = new Map(["ok", "failed", "running", "waiting", "not run"].map((state) => [state, 0]));
  for (const { point } of points.values()) counts.set(point.state, counts.get(point.state) + 1);
  const done = points.size - counts.get("running") - counts.get("waiting");
  ended = study.status !== null;
  byId("state").textContent = ended ? `Over (status ${study.status})` : study.phase || "Running";
  byId("share").value = points.size ? done / points.size : 0;
  byId("far").textContent = [`${grouped(points.size)} points`,
    ...[...counts].filter(([, count]) => count).map(([state, count]) => `${grouped(count)} ${state}`)].join(" · ");
}

function showStudy(study) {
  if (showRefused(study)) return;
  for (const point of study.points) showPoint(point);
  showProgress(study);
  showConsole(study.console);
  if (Date.now() > refusedUntil) showError(study.error);
}

byId("filter").addEventListener("input", () => {
  for (const { point, row } of points.values()) row.hidden = !isShown(point);
});
connect(showStudy, () => ended);

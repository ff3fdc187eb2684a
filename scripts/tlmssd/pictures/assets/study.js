// A study's page: fills the charts from pageData.study, and shows the point that was clicked.
const study = pageData.study;
const byId = (name) => document.getElementById(name);
const metricOf = (name) => study.metrics.find((metric) => metric.name === name);
const good = study.points.filter((point) => point.ok);
const chartIds = Object.keys(content.charts);
const about = (point) => `point ${point.point}: ` +
  study.axes.map((axis, i) => `${axis.name} ${point.axes[i]}`).join(", ");

// Places of the charts on the page, in its order.
const places = {tradeOff: 0, shares: 1, effects: 2, map: 2 + study.axes.length,
  parallel: chartIds.length - 2, latencies: chartIds.length - 1};

function followClicks(view) {
  view.addEventListener("click", (event, item) => {
    const datum = (item && item.datum) || {};
    const point = datum.point || (datum[0] || {}).point;
    if (point) location.hash = `point-${point}`;
  });
}

// Points that no other beats in both metrics; the best in x first. None where it is not known which way is better.
const hasNoBest = (metric) => metric.more === null;
function paretoFront(x, y) {
  if (hasNoBest(x) || hasNoBest(y)) return [];
  const sign = (metric) => (metric.more ? -1 : 1);
  const known = good.filter((p) => p.feasible && p.means[x.name] !== null && p.means[y.name] !== null);
  const worth = (p, metric) => sign(metric) * p.means[metric.name];
  known.sort((a, b) => worth(a, x) - worth(b, x) || worth(a, y) - worth(b, y));
  const front = [];
  const last = () => front[front.length - 1];
  const beats = (point) => !last() || worth(point, y) < worth(last(), y);
  const ties = (point) => worth(point, x) === worth(last(), x) && worth(point, y) === worth(last(), y);
  for (const point of known) if (beats(point) || ties(point)) front.push(point);
  return front;
}
const kindOf = (point, front) => !point.feasible ? "against a constraint"
  : front.has(point.point) ? "Pareto front" : "other points";

let front = [];
async function drawTradeOff() {
  const x = metricOf(byId("x").value), y = metricOf(byId("y").value);
  front = paretoFront(x, y);
  const onFront = new Set(front.map((point) => point.point));
  const open = [...new Set([x, y])].filter(hasNoBest).map((metric) => metric.name);
  byId("no-front").textContent = open.length === 0 ? "" : "No Pareto front: whether more or less is better of " +
    `${open.join(" and ")} is said by objectives of the study.`;
  const rows = good.map((point) => {
    const [a, b] = [point.means[x.name], point.means[y.name]];
    const [da, db] = [point.spread[x.name] || 0, point.spread[y.name] || 0];
    return {x: a, y: b, xLow: a - da, xHigh: a + da, yLow: b - db, yHigh: b + db, point: point.point,
      kind: kindOf(point, onFront),
      about: `${about(point)}; ${x.name} ${point.texts[x.name]}, ${y.name} ${point.texts[y.name]}`};
  }).filter((row) => row.x !== null && row.y !== null)
    .sort((a, b) => onFront.has(a.point) - onFront.has(b.point));  // the front on top
  const line = front.map((point) => ({x: point.means[x.name], y: point.means[y.name]}));
  const units = {xUnit: x.unit, yUnit: y.unit};
  // A line without points has no extent, of which Vega complains; one of one point is not seen.
  const drawn = line.length ? line : rows.slice(0, 1);
  if (!rows.length) drawNothing(places.tradeOff);
  else followClicks(await draw(chartIds[places.tradeOff], {points: rows, front: drawn}, units));
  followClicks(await drawParallel(onFront));
}

async function drawEffects() {
  const metric = metricOf(byId("effect").value);
  byId("how-effects").textContent = metric.how;
  const shares = study.axes.map((axis, i) => ({axis: axis.name, share: metric.explained[i]}))
    .concat({axis: "together, or by chance", share: metric.unexplained})
    .filter(({share}) => share !== null);
  if (shares.length) await draw(chartIds[places.shares], {shares});
  else byId(chartIds[places.shares]).textContent = "Not determined: the metric is the same at every point, or nothing " +
    "tells what is chance (more seeds or points would).";
  for (const i of study.axes.keys()) {
    const levels = metric.effects[i].map((row) => ({...row, low: row.low ?? row.mean, high: row.high ?? row.mean,
      about: `${row.level}: ${written(row.mean, metric.unit)}`}));
    if (!good.some((point) => point.means[metric.name] !== null)) drawNothing(places.effects + i);
    else if (!levels.length) byId(chartIds[places.effects + i]).textContent = "Not determined by the points of this study.";
    else await draw(chartIds[places.effects + i], {levels}, {yUnit: metric.unit});
  }
}

function drawNothing(place) {
  byId(chartIds[place]).textContent = "No point has it.";
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function drawMap() {
  const place = (id) => study.axes.findIndex((axis) => axis.name === byId(id).value);
  const [ax, ay] = [place("map-x"), place("map-y")];
  const metric = metricOf(byId("map-metric").value);
  byId("how-map").textContent = metric.grid ? "" : "The points are no full grid of all values: a cell is the mean of the " +
    "points that it has, and those of other cells may differ in the other axes, too.";
  const cells = [];
  for (const y of study.axes[ay].levels) for (const x of study.axes[ax].levels) {
    const values = good.filter((p) => p.levels[ax] === x && p.levels[ay] === y)
      .map((p) => p.means[metric.name]).filter((value) => value !== null);
    cells.push({x, y, value: values.length ? mean(values) : null, points: values.length, about: "no points"});
  }
  // Empty ones keep the levels in their order.
  const filled = cells.filter((cell) => cell.points);
  if (!filled.length) return drawNothing(places.map);
  const all = filled.map((cell) => cell.value);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  for (const cell of filled) {
    cell.text = written(cell.value, metric.unit);
    cell.bright = high > low && (cell.value - low) / (high - low) > 0.55;
    cell.about = `${cell.text} (${cell.points} points)`;
  }
  return draw(chartIds[places.map], {cells});
}

function written(value, unit) {
  const digits = (number) => Number(number.toPrecision(3)).toString();
  const size = Math.abs(value);
  if (unit === "share") return digits(100 * value) + " %";
  if (unit === "s") {
    const [factor, name] = size >= 1 || size === 0 ? [1, "s"] : size >= 1e-3 ? [1e3, "ms"]
      : size >= 1e-6 ? [1e6, "us"] : [1e9, "ns"];
    return `${digits(value * factor)} ${name}`;
  }
  const [factor, prefix] = size >= 1e9 ? [1e-9, "G"] : size >= 1e6 ? [1e-6, "M"]
    : size >= 1e4 ? [1e-3, "k"] : [1, ""];
  const behind = unit === "1/s" ? "/s" : unit;
  return `${digits(value * factor)} ${prefix}${behind}`.trim();
}

// A name in up to four lines, broken behind spaces and dots.
function inLines(name) {
  const lines = [""];
  for (const part of name.match(/[^ .]*[ .]?/g)) {
    const fits = (lines.at(-1) + part).trimEnd().length <= 26;
    if (fits || !lines.at(-1) || lines.length === 4) lines.push(lines.pop() + part);
    else lines.push(part);
  }
  return lines.map((line) => line.trimEnd()).join("\n");
}

// Each axis and metric is a row; a point's place in it is between the least and the largest value.
function drawParallel(onFront) {
  const shown = good.length > 600 ? good.filter((p, i) => onFront.has(p.point) ||
    i % Math.ceil(good.length / 600) === 0) : good;
  const ranges = study.metrics.map((metric) => {
    const values = good.map((p) => p.means[metric.name]).filter((value) => value !== null);
    return values.length ? [Math.min(...values), Math.max(...values)] : [null, null];
  });
  const lines = [], ends = [];
  for (const point of shown) {
    const kind = kindOf(point, onFront);
    const add = (row, place, order) => lines.push({row: inLines(row), place, order, kind, point: point.point,
      about: about(point), opacity: kind === "Pareto front" ? 1 : shown.length > 100 ? 0.15 : 0.35});
    study.axes.forEach((axis, i) => add(axis.name, point.places[i], i));
    study.metrics.forEach((metric, i) => {
      const [low, high] = ranges[i], value = point.means[metric.name];
      if (value !== null)
        add(metric.name, high > low ? (value - low) / (high - low) : 0.5, study.axes.length + i);
    });
  }
  const atEnd = (i, wanted) => good.find((point) => point.places[i] === wanted);
  study.axes.forEach((axis, i) => {
    for (const [side, place] of [["least", 0], ["most", 1]]) {
      const point = atEnd(i, place);
      if (point) ends.push({row: inLines(axis.name), place, side, text: point.axes[i]});
    }
  });
  study.metrics.forEach((metric, i) => {
    const [low, high] = ranges[i], row = inLines(metric.name);
    if (low === null) ends.push({row, place: 0, side: "least", text: "no point has it"});
    else ends.push({row, place: 0, side: "least", text: written(low, metric.unit)},
      {row, place: 1, side: "most", text: written(high, metric.unit)});
  });
  lines.sort((a, b) => a.opacity - b.opacity);
  return draw(chartIds[places.parallel], {lines, ends});
}

// Latencies of chosen points.
let chosen = [];
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "currentColor"];
const operations = Object.keys(study.latencies);
let operation = operations[0];

function drawLatencies() {
  const curves = study.latencies[operation] || {};
  const lines = chosen.filter((number) => curves[number]).flatMap((number) =>
    curves[number].map(([latency, slower], order) => ({name: `point ${number}`, latency, slower, order})));
  const list = chosen.map((number, i) => {
    const item = document.createElement("li");
    const square = document.createElement("span");
    square.style.background = colours[i % colours.length];
    const link = document.createElement("a");
    link.href = `#point-${number}`;
    link.textContent = about(study.points.find((point) => point.point === number));
    item.append(square, link);
    return item;
  });
  byId("chosen").replaceChildren(...list);
  if (lines.length) return draw(chartIds[places.latencies], {lines}, {xUnit: "s"});
  byId(chartIds[places.latencies]).replaceChildren();
}

function offerOperations() {
  byId("operation").replaceChildren(...operations.map((name) => {
    const button = document.createElement("button");
    button.className = "plain";
    button.textContent = name;
    button.setAttribute("aria-pressed", name === operation);
    button.onclick = () => { operation = name; offerOperations(); drawLatencies(); };
    return button;
  }));
}

function toggleChosen(number) {
  chosen = chosen.includes(number) ? chosen.filter((one) => one !== number)
    : [...chosen, number].slice(-colours.length);
  drawLatencies();
}

// The scenario of a run: the first one of the study with this run's edits.
function scenarioOf(run) {
  const lines = [];
  let next = 0;
  for (const [from, to, replacement] of run.scenario) {
    lines.push(...study.scenario.slice(next, from), ...replacement);
    next = to;
  }
  return [...lines, ...study.scenario.slice(next)].join("\n") + "\n";
}

function element(tag, text, more = {}) {
  return Object.assign(document.createElement(tag), {textContent: text}, more);
}

function showPoint(number) {
  const point = study.points.find((one) => one.point === number);
  if (!point) return;
  const place = byId("details");
  const parts = [element("h3", about(point))];
  if (point.ok) parts.push(element("p", study.metrics.map((metric) =>
    `${metric.name} ${point.texts[metric.name]}`).join("; ")));
  if (!point.ok) parts.push(element("p", "Failed: it does not have the results of all of its runs.", {className: "warn"}));
  else if (!point.feasible) parts.push(element("p", "Against a constraint.", {className: "warn"}));
  for (const run of point.runs) {
    if (run.status !== "ok")
      parts.push(element("p", `${run.status}: ${run.reason}`, {className: "warn"}));
    parts.push(element("pre", `tlmssd run ${study.base} ${run.settings}`));
    if (run.scenario) parts.push(downloadOf(point, run));
  }
  const curve = element("button", "Latencies: add or remove", {className: "plain"});
  curve.onclick = () => toggleChosen(number);
  if (point.ok && operations.length) parts.push(curve);
  place.replaceChildren(...parts);
}

function downloadOf(point, run) {
  const name = `point-${point.point}` + (run.seed === null ? "" : `-seed-${run.seed}`) + ".yaml";
  const link = element("a", `${name}, every default filled in`, {download: name});
  link.href = "data:text/yaml;charset=utf-8," + encodeURIComponent(scenarioOf(run));
  return link;
}

function followHash() {
  const match = /^#point-(\d+)$/.exec(location.hash);
  if (!match) return;
  showPoint(Number(match[1]));
  byId("point").scrollIntoView();
}

async function begin() {
  if (study.metrics.length > 1) byId("y").selectedIndex = 1;
  if (byId("map-y")) byId("map-y").selectedIndex = 1;
  for (const id of ["x", "y"]) byId(id).onchange = drawTradeOff;
  byId("effect").onchange = drawEffects;
  for (const id of ["map-x", "map-y", "map-metric"]) if (byId(id)) byId(id).onchange = drawMap;
  await drawTradeOff();
  await drawEffects();
  if (byId("map-x")) await drawMap();
  const step = Math.max(1, Math.ceil(front.length / 6));
  chosen = front.filter((_, i) => i % step === 0).map((point) => point.point);
  offerOperations();
  await drawLatencies();
}
if (chartIds.length) await begin();
addEventListener("hashchange", followHash);
followHash();

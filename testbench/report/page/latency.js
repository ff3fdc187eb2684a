// How slow, and why: percentiles on an axis that stretches the tail, and the causes behind each.
const TAIL_TICKS = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
const nines = (share) => -Math.log10(1 - share);
const TAIL_LABEL = "datum.value < 0.5 ? 'p50' : 'p' + format(100 * (1 - pow(10, -datum.value)), '.12~g')";

function percentileRows() {
  return LINES.flatMap(({name, results}) => {
    const last = -Math.log10(0.5 / results.commands);
    const fastest = [results.distribution[0][0], 0];
    return [fastest, ...results.distribution].map(([latency, share]) => {
      const at = Math.min(share < 1 ? nines(share) : last, last);
      return {line: name, latency, at, share: `p${Number((share * 100).toFixed(4))}`,
        time: timeText(latency)};
    });
  });
}

function percentileTicks(rows) {
  const seen = rows.filter((row) => row.at >= nines(0.5)).map((row) => row.latency);
  const [low, high] = [Math.min(...seen), Math.max(...seen)].map(Math.log10);
  const ticks = [];
  for (let decade = Math.floor(low); decade <= Math.ceil(high); ++decade)
    for (const digit of high - low < 2.5 ? [1, 2, 5] : [1]) ticks.push(digit * 10 ** decade);
  return ticks;
}

function percentileSpec() {
  const rows = percentileRows();
  const hasSingle = LINES.some(({results}) => results.commands === 1);  // a line that is a point
  return {
    height: 320,
    data: {values: rows},
    mark: {type: "line", interpolate: "step-before", strokeWidth: 2, clip: true, point: hasSingle},
    encoding: {
      x: {field: "at", type: "quantitative", title: "share of the commands",
        scale: {domain: [nines(0.5) - (hasSingle ? 0.04 : 0), nines(0.99999) + 1e-6], nice: false},
        axis: {values: TAIL_TICKS.map(nines), labelExpr: TAIL_LABEL, labelFlush: true}},
      y: {field: "latency", type: "quantitative", title: "latency at most",
        scale: {type: "log", nice: true},
        axis: {labelExpr: TIME_LABEL, values: percentileTicks(rows)}},
      color: {field: "line", type: "nominal", scale: LINE_COLOURS, legend: null},
      strokeDash: LINE_DASHES,
      tooltip: [{field: "line", title: "of"}, {field: "share", title: "percentile"},
        {field: "time", title: "latency"}],
    },
  };
}

// ---- blame

const causeWords = (cause) => (report.causes[cause] || [cause])[0];
const causeColour = (cause) => (report.causes[cause] || ["", "#777777"])[1];
const OTHER = ["all others", "#777777"];

// Bars of one load and operation: on average, then at percentiles; parts in the order of a
// command's way.
function blameBars({results}) {
  const bars = [{label: `mean  ${timeText(results.mean)}`, ledger: results.ledger}];
  for (const [percentile, told] of Object.entries(results.percentiles))
    bars.push({label: `${percentile}  ${timeText(told.latency_ns)}`, ledger: told.ledger});
  return bars;
}

// Causes that make up a hundredth of some bar; the rest is one part.
const SHOWN = new Set(LINES.flatMap((line) => blameBars(line)).flatMap(({ledger}) =>
  Object.entries(ledger).filter(([, share]) => share >= 0.01).map(([cause]) => cause)));

function blameParts(line) {
  return blameBars(line).flatMap(({label, ledger}) => {
    const parts = Object.keys(report.causes).filter((cause) => SHOWN.has(cause) && ledger[cause] > 0)
      .map((cause) => [causeWords(cause), causeColour(cause), ledger[cause]]);
    const rest = 1 - parts.reduce((sum, part) => sum + part[2], 0);
    if (rest > 1e-4) parts.push([...OTHER, rest]);
    let from = 0;
    return parts.map(([cause, colour, share]) => {
      const part = {label, cause, colour, ink: inkOn(colour), share, from, to: from + share,
        middle: from + share / 2, text: percentText(share)};
      from += share;
      return part;
    });
  });
}

function blameSpec(line, width) {
  const parts = blameParts(line);
  const room = Math.max(width - 130, 100);
  const y = {field: "label", type: "nominal", sort: null, title: null,
    axis: {labelLimit: 130, ticks: false, domain: false, labelOverlap: false}};
  const tooltip = [{field: "cause"}, {field: "text", title: "share"}, {field: "label", title: line.name}];
  return {
    height: 27 * blameBars(line).length,
    data: {values: parts},
    layer: [
      {mark: {type: "bar", height: {band: 0.84}, stroke: "#ffffff", strokeWidth: 0.5},
        encoding: {y, tooltip,
          x: {field: "from", type: "quantitative", title: null, scale: {domain: [0, 1], nice: false},
            axis: {labelExpr: PERCENT_LABEL, grid: false, labelFlush: true, tickCount: 5}},
          x2: {field: "to"}, color: {field: "colour", type: "nominal", scale: null}}},
      {transform: [{filter: `datum.share * ${room} >= 8 * length(datum.text)`}],
        mark: {type: "text", tooltip: null},
        encoding: {y, x: {field: "middle", type: "quantitative"}, text: {field: "text"},
          color: {field: "ink", type: "nominal", scale: null}}},
    ],
  };
}

function causeLegend() {
  const all = LINES.flatMap(blameParts);
  const used = new Map(all.map((part) => [part.cause, part.colour]));
  const order = [...Object.values(report.causes).map(([words]) => words), OTHER[0]];
  return Object.fromEntries(order.filter((words) => used.has(words)).map((words) => [words, used.get(words)]));
}

if (LINES.length) {
  figure("latency", "Latency at percentiles; each nine to the right is a tenth of the commands",
    LINE_LEGEND, percentileSpec);
  document.getElementById("blame").before(legendOf(causeLegend()));
  for (const line of LINES)
    figure("blame", `Where the time of ${line.name} goes: on average, and of the commands at each percentile`,
      {}, (width) => blameSpec(line, width));
}

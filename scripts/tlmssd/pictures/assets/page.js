// Draws the page's charts and tables out of the JSON in #content.
const content = JSON.parse(document.getElementById("content").textContent);
const pageData = content.data;

// Draws a chart in its place, with data and signals for what its spec only names; gives its view.
async function draw(name, datasets = {}, signals = {}) {
  const spec = structuredClone(content.charts[name].spec);
  spec.autosize = {type: "fit-x", contains: "padding", resize: true};
  spec.datasets = {...spec.datasets, ...datasets};
  for (const param of spec.params || []) if (param.name in signals) param.value = signals[param.name];
  const most = Math.max(0, ...Object.values(datasets).map((rows) => rows.length));
  const renderer = most > 3000 ? "canvas" : "svg";
  views[name] = (await window.vegaEmbed("#" + name, spec, {actions: false, renderer})).view;
  return views[name];
}

// Pixels do not follow the colour of text by themselves.
const views = {};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const view of Object.values(views)) view.resize().runAsync();
});

// A cell is a text, or [number to sort by, text, class or "#link"].
const cellText = (cell) => (Array.isArray(cell) ? cell[1] : cell);
const cellKey = (cell) => (Array.isArray(cell) ? cell[0] : cell);

function compareCells(a, b) {
  const x = cellKey(a), y = cellKey(b);
  if (x === null || y === null) return (x === null) - (y === null);
  return typeof x === "string" || typeof y === "string"
    ? String(x).localeCompare(String(y), "en", {numeric: true}) : x - y;
}

// Heads longer than this break into lines; texts longer than this get room for fewer of them.
const LONG_HEAD = 30, LONG_TEXT = 120;

class SortedTable {
  constructor(place, {columns, rows, sort, filtered}) {
    Object.assign(this, {place, columns, rows, column: sort, down: false, shown: 100, wanted: ""});
    this.tools = document.createElement("div");
    this.tools.className = "tools";
    if (filtered) this.addFilter();
    this.box = document.createElement("div");
    this.box.className = "scroll";
    this.more = document.createElement("button");
    this.more.className = "plain";
    this.more.onclick = () => { this.shown *= 4; this.draw(); };
    place.replaceChildren(this.tools, this.box, this.more);
    this.draw();
  }
  addFilter() {
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = "rows with ...";
    field.setAttribute("aria-label", "show rows with");
    field.oninput = () => { this.wanted = field.value.toLowerCase(); this.draw(); };
    this.tools.append(field);
  }
  sortBy(column) {
    this.down = column === this.column && !this.down;
    this.column = column;
    this.draw();
  }
  chosenRows() {
    const words = this.wanted.split(/\s+/).filter(Boolean);
    const kept = this.rows.filter((row) => {
      const text = row.map(cellText).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    if (this.column === null) return kept;
    const sign = this.down ? -1 : 1;
    return kept.sort((a, b) => sign * compareCells(a[this.column], b[this.column]));
  }
  draw() {
    const rows = this.chosenRows();
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    this.columns.forEach((name, i) => head.append(this.headCell(name, i)));
    const body = table.createTBody();
    for (const row of rows.slice(0, this.shown)) this.fill(body.insertRow(), row);
    this.box.replaceChildren(table);
    this.more.hidden = rows.length <= this.shown;
    this.more.textContent = `${rows.length - this.shown} more rows`;
  }
  isText(i) { return this.rows.length > 0 && !Array.isArray(this.rows[0][i]); }
  headCell(name, i) {
    const cell = document.createElement("th");
    const button = document.createElement("button");
    const arrow = i === this.column ? (this.down ? " ▼" : " ▲") : "";
    button.textContent = name + arrow;
    button.onclick = () => this.sortBy(i);
    cell.className = (this.isText(i) ? "text" : "") + (name.length > LONG_HEAD ? " long" : "");
    if (arrow) cell.setAttribute("aria-sort", this.down ? "descending" : "ascending");
    cell.append(button);
    return cell;
  }
  fill(line, row) {
    row.forEach((value) => {
      const cell = line.insertCell();
      const mark = Array.isArray(value) ? value[2] || "" : "";
      const long = cellText(value).length > LONG_TEXT ? "long " : "";
      cell.className = (Array.isArray(value) ? "number " : "text " + long) + (mark[0] === "#" ? "" : mark);
      if (mark[0] === "#") {
        const link = document.createElement("a");
        link.href = mark;
        link.textContent = cellText(value);
        cell.append(link);
      } else {
        cell.textContent = cellText(value);
      }
    });
  }
}

for (const [name, table] of Object.entries(content.tables))
  new SortedTable(document.getElementById(name), table);
for (const [name, chart] of Object.entries(content.charts)) if (!chart.template) await draw(name);

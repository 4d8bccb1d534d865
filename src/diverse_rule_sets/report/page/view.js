// Helper functions. All text from the data is set as text content, so that the browser never interprets it as HTML.

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children);
  return node;
}

const bdi = (text, attributes) => el("bdi", attributes, text);
const formatNumber = (n) => n.toLocaleString("en-US", { maximumFractionDigits: n < 10 ? 2 : 1 });

function percent(share) {
  if (share > 0 && share < 0.001) return "<0.1%";
  if (share < 1 && share > 0.999) return ">99.9%";
  return `${(100 * share).toFixed(1)}%`.replace(/\.0%$/, "%");
}

function labelNode(page, k) {
  const swatch = el("i", { class: `swatch ${page.colours[k]}`, "aria-hidden": "true" });
  const [text, full] = [page.labels[k], page.facts.classes[k]];
  return el("span", { class: "label" }, swatch, bdi(text, { title: text === full ? null : full }));
}

// Format a time in microseconds since 1970: the date, and the time of day unless it is midnight.
function dateText(micros) {
  const days = micros / 86400000000n - (micros % 86400000000n < 0n ? 1n : 0n);
  const rest = micros - days * 86400000000n;
  const [day] = new Date(Number(days) * 86400000).toISOString().split("T");
  if (rest === 0n) return day;
  const pad = (n, width) => String(n).padStart(width, "0");
  const seconds = rest / 1000000n;
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map((n) => pad(n, 2)).join(":");
  const fraction = rest % 1000000n;
  return `${day} ${clock}${fraction ? `.${pad(fraction, 6)}` : ""}`;
}

function valueText(column, value) {
  if (value === null) return "missing";
  if (column.kind === "choice") return value < 0 ? "another value" : column.choices[value];
  if (column.kind === "date") return dateText(value) + (column.utc ? "Z" : "");
  return String(value);
}

// The value as text for a table: numbers that are not integers are rounded to 6 significant digits.
function shortText(column, value) {
  const long = column.kind === "number" && Number.isFinite(value) && !Number.isInteger(value);
  return long ? String(Number(value.toPrecision(6))) : valueText(column, value);
}

function conditionNode(part) {
  const node = el("span", { class: "condition" }, bdi(part.column, { class: "column" }), ` ${part.verb} `);
  const strong = el("b");
  part.values.slice(0, 8).forEach((value, k) => strong.append(k ? ", " : "", bdi(value)));
  if (part.values.length > 8) strong.append(`, and ${part.values.length - 8} more`);
  node.append(strong);
  return node;
}

// The rule or rules that decide the label of a record.
function decidingText(page, record) {
  if (record.deciding >= 0) {
    return `${page.facts.rules[record.deciding].fallback ? "fallback rule" : "rule"} ${record.deciding + 1}`;
  }
  return record.covered ? "added class counts" : "default label";
}

// Pairs of the position of a sampled record and whether its predicted label is right.
const examplePairs = ({ right, wrong }) => [...right.map((k) => [k, true]), ...wrong.map((k) => [k, false])];

const MAX_COLUMNS = 24;

// A table of records. The columns in `first` come first; each record has a button that loads it into the panel below.
function recordTable(page, pairs, heading, first, onTry) {
  const all = [...new Set([...first, ...page.columns.keys()])];
  const order = all.slice(0, Math.max(first.length, MAX_COLUMNS));
  const titles = ["Record", "True label", heading, "Predicted label"];
  const head = el("tr", {}, ...titles.map((text) => el("th", { scope: "col" }, text)));
  order.forEach((j) =>
    head.append(
      el(
        "th",
        { scope: "col", class: `${page.columns[j].kind}${first.includes(j) ? " used" : ""}` },
        bdi(page.columns[j].name),
      ),
    ),
  );
  const rows = pairs.map(([position, right]) => {
    const record = page.records[position];
    const button = el("button", { type: "button", class: "link" }, `${record.row}`);
    button.setAttribute("aria-label", `Try record ${record.row}`);
    button.addEventListener("click", () => onTry(position));
    const number = el("th", { scope: "row" }, onTry ? button : String(record.row));
    if (record.name !== null) number.append(el("small", {}, "index ", bdi(record.name)));
    const mark = el("span", { class: right ? "right" : "wrong" }, right ? "right" : "wrong");
    const label = el("td", {}, labelNode(page, record.predicted), el("small", {}, `by ${decidingText(page, record)}`));
    const cells = order.map((j) => {
      const value = record.values[j];
      return el(
        "td",
        { class: value === null ? "missing" : page.columns[j].kind },
        bdi(shortText(page.columns[j], value)),
      );
    });
    return el("tr", {}, number, el("td", {}, labelNode(page, record.actual)), el("td", {}, mark), label, ...cells);
  });
  const table = el("table", { class: "records" }, el("thead", {}, head), el("tbody", {}, ...rows));
  const box = el("div", { class: "scroll", role: "region", "aria-label": "Sampled records", tabindex: "0" }, table);
  const n = all.length - order.length;
  const note = `${n} more column${n === 1 ? " is" : "s are"} not shown.`;
  return n ? [box, el("p", { class: "muted" }, note)] : [box];
}

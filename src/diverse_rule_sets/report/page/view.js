// Small helpers: every text from the data goes through textContent, so that nothing in it can run.

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
const whole = (n) => n.toLocaleString("en-US");

function percent(share) {
  if (share > 0 && share < 0.001) return "<0.1%";
  if (share < 1 && share > 0.999) return ">99.9%";
  return `${(100 * share).toFixed(1)}%`.replace(/\.0%$/, "%");
}

function labelOf(page, k) {
  const swatch = el("i", { class: `swatch ${page.colours[k]}`, "aria-hidden": "true" });
  return el("span", { class: "label" }, swatch, bdi(page.facts.classes[k]));
}

// A moment in microseconds since 1970, as people write it.
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

// In a table the first digits do; whole numbers stay whole.
function shortText(column, value) {
  const long = column.kind === "number" && Number.isFinite(value) && !Number.isInteger(value);
  return long ? String(Number(value.toPrecision(6))) : valueText(column, value);
}

function conditionText(part) {
  const node = el("span", { class: "condition" }, bdi(part.column, { class: "column" }), ` ${part.verb} `);
  const strong = el("b");
  part.values.slice(0, 8).forEach((value, k) => strong.append(k ? ", " : "", bdi(value)));
  if (part.values.length > 8) strong.append(`, and ${part.values.length - 8} more`);
  node.append(strong);
  return node;
}

function speakerName(page, record) {
  if (record.speaker >= 0) {
    return `${page.facts.rules[record.speaker].fallback ? "fallback" : "rule"} ${record.speaker + 1}`;
  }
  return record.covered ? "rules together" : "default";
}

const MAX_SHOWN = 24;

// Records as a table: the columns that matter first, right and wrong in words; each can be tried.
function recordTable(page, picked, who, first, onTry) {
  const all = [...new Set([...first, ...page.columns.keys()])];
  const order = all.slice(0, Math.max(first.length, MAX_SHOWN));
  const head = el("tr", {}, ...["Record", "True label", who, "Answer"].map((text) => el("th", { scope: "col" }, text)));
  order.forEach((j) =>
    head.append(
      el(
        "th",
        { scope: "col", class: `${page.columns[j].kind}${first.includes(j) ? " read" : ""}` },
        bdi(page.columns[j].name),
      ),
    ),
  );
  const rows = picked.map(([place, right]) => {
    const record = page.records[place];
    const button = el("button", { type: "button", class: "link" }, `${record.row}`);
    button.setAttribute("aria-label", `Try record ${record.row}`);
    button.addEventListener("click", () => onTry(place));
    const number = el("th", { scope: "row" }, onTry ? button : String(record.row));
    if (record.name !== null) number.append(el("small", {}, "index ", bdi(record.name)));
    const verdict = el("span", { class: right ? "right" : "wrong" }, right ? "right" : "wrong");
    const answer = el("td", {}, labelOf(page, record.answer), el("small", {}, `by ${speakerName(page, record)}`));
    const cells = order.map((j) => {
      const value = record.values[j];
      return el(
        "td",
        { class: value === null ? "missing" : page.columns[j].kind },
        bdi(shortText(page.columns[j], value)),
      );
    });
    return el("tr", {}, number, el("td", {}, labelOf(page, record.actual)), el("td", {}, verdict), answer, ...cells);
  });
  const table = el("table", { class: "records" }, el("thead", {}, head), el("tbody", {}, ...rows));
  const box = el("div", { class: "scroll", role: "region", "aria-label": "Sampled records", tabindex: "0" }, table);
  const hidden = all.length - order.length;
  const told = `${hidden} more column${hidden === 1 ? " is" : "s are"} not shown.`;
  return hidden ? [box, el("p", { class: "muted" }, told)] : [box];
}

// The panel "Try a record": inputs for the columns that rules use, and the result of decide(), updated at each change.

function dateInput(column, micros) {
  const text = dateText(micros).replace(" ", "T");
  if (column.days) return text.slice(0, 10);
  return text.length === 10 ? `${text}T00:00` : text.slice(0, 23);
}

// Parse the text of an input field; undefined if it is not a valid value.
function parseInput(column, text) {
  if (column.kind === "number") return Number.isFinite(Number(text)) ? Number(text) : undefined;
  const time = Date.parse(`${text}${text.includes("T") ? "" : "T00:00"}Z`);
  return Number.isNaN(time) ? undefined : BigInt(time) * 1000n;
}

const errorText = (column) => (column.kind === "number" ? "not a number" : "not a complete date");

function choiceField(column, id, label, get, set) {
  const select = el("select", { id });
  column.choices.forEach((text, k) => select.append(el("option", { value: k }, text)));
  if (column.other) select.append(el("option", { value: -1 }, "another value"));
  select.append(el("option", { value: "" }, "missing"));
  select.addEventListener("change", () => set(select.value === "" ? null : Number(select.value)));
  const show = () => {
    select.value = get() ?? "";
  };
  return { show, node: el("div", { class: "field" }, label, select) };
}

// A field for a number or a date, with a checkbox for a missing value. Invalid text does not change the record; a
// message below the field names the value that is used instead.
function textField(column, id, label, get, set, reject) {
  const type = column.kind === "number" ? "number" : column.days ? "date" : "datetime-local";
  const input = el("input", { id, type, step: type === "date" ? null : "any" });
  const name = `${column.name} is missing`;
  const box = el("input", { type: "checkbox", id: `${id}-missing`, "aria-label": name });
  const error = el("small", { class: "input-error", id: `${id}-error`, hidden: true });
  input.setAttribute("aria-describedby", error.id);
  const mark = (invalid) => {
    input.setAttribute("aria-invalid", String(invalid));
    error.hidden = !invalid;
    error.textContent = invalid ? `${errorText(column)}; the value used is ${valueText(column, get())}` : "";
  };
  let last = readValue(column, column.start) ?? parseInput(column, type === "number" ? "0" : "2000-01-01");
  const show = () => {
    const value = get();
    last = value ?? last;
    box.checked = value === null;
    input.placeholder = value === null ? "missing" : valueText(column, value); // visible if the field is empty
    input.value = value === null ? "" : type === "number" ? value : dateInput(column, value);
    mark(false);
  };
  input.addEventListener("input", () => {
    const value = input.value === "" ? null : withoutCodes(column, parseInput(column, input.value));
    const invalid = input.validity.badInput || value === undefined;
    mark(invalid);
    if (invalid) return reject();
    box.checked = value === null;
    return set(value);
  });
  box.addEventListener("change", () => {
    set(box.checked ? null : last);
    show();
  });
  const missing = el("label", { class: "missing-box" }, box, "missing");
  return { show, node: el("div", { class: "field" }, label, input, error, missing) };
}

// The field of one column. `record` holds the current values; `invalid` holds the columns with an invalid text.
function makeField(page, record, invalid, j, update) {
  const column = page.columns[j];
  const id = `field-${j}`;
  const label = el("label", { for: id }, bdi(column.name), column.utc ? " (UTC)" : "");
  const make = column.kind === "choice" ? choiceField : textField;
  const set = (value) => {
    invalid.delete(j);
    record[j] = value;
    update();
  };
  const reject = () => {
    invalid.add(j);
    update();
  };
  return make(column, id, label, () => record[j], set, reject);
}

// The mark of a condition that holds or does not hold.
function markNode(met) {
  const mark = el("span", { class: met ? "met" : "unmet" }, met ? "✓" : "✗");
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", met ? "holds" : "does not hold");
  return mark;
}

// The value of a column in the record.
const hereNode = (column, value) => el("small", { class: "here" }, "in this record: ", bdi(valueText(column, value)));

// One rule with its conditions, each marked as met or not met by the record.
function ruleChecks(page, model, result, j) {
  const rule = page.facts.rules[j];
  const items = page.phrases[j].map((part, c) => {
    const position = model.bodies[j][c].column;
    const column = [...page.columns, ...model.derived][position];
    const text = el("span", {}, conditionNode(part), " ", hereNode(column, result.values[position]));
    return el("li", {}, markNode(result.checks[j][c]), text);
  });
  const title = el(
    "p",
    { class: "rule-name" },
    el("b", {}, `${rule.fallback ? "Fallback rule" : "Rule"} ${j + 1}:`),
    " label ",
    labelNode(page, rule.label_position),
  );
  if (j === result.deciding) title.append(" ", el("strong", { class: "tag decides" }, "decides"));
  return el(
    "div",
    { class: j === result.deciding ? "checked decides" : "checked" },
    title,
    el("ul", { class: "checks" }, ...items),
    ...stepNodes(page, model, result, j),
  );
}

// The sentence for a record that no rule and no fallback rule covers.
function defaultText(page, model) {
  const nothing = model.bodies.length > model.n_rules ? "No rule and no fallback rule covers" : "No rule covers";
  return `${nothing} this record: default label ${page.facts.default.label}.`;
}

// The numbers of some rules, such as "rules 2 and 5", followed by a verb.
function rulesText(rules, verb) {
  const numbers = rules.map((j) => j + 1);
  if (numbers.length === 1) return `, rule ${numbers[0]} ${verb}s`;
  return numbers.length ? `, rules ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)} ${verb}` : "";
}

// Which of the covering rules agree with the deciding rule, and which contradict it.
function othersText(model, result) {
  const others = result.covering.filter((j) => j !== result.deciding);
  const agrees = (j) => model.labels[j] === model.labels[result.deciding];
  return rulesText(others.filter(agrees), "agree") + rulesText(others.filter((j) => !agrees(j)), "contradict");
}

function prediction(page, model, result) {
  const n = result.covering.length;
  const rule = result.deciding < 0 ? null : page.facts.rules[result.deciding];
  let why = defaultText(page, model);
  if (rule && rule.fallback) why = `No rule covers this record; fallback rule ${result.deciding + 1} decides.`;
  else if (n === 1 && rule) why = `Only rule ${result.deciding + 1} covers this record; it decides.`;
  else if (rule) why = `${n} rules cover this record: rule ${result.deciding + 1} decides${othersText(model, result)}.`;
  else if (n === 1) why = `Rule ${result.covering[0] + 1} covers this record; this label has its largest class count.`;
  else if (n) why = `${n} rules cover this record; this label has the largest sum of their class counts.`;
  return [
    el("p", { class: "predicted" }, "Predicted label ", labelNode(page, result.label)),
    el("p", { class: "reason" }, why),
  ];
}

// A message for each field with an invalid text: the result is for another value.
function invalidTexts(page, record, invalid) {
  return [...invalid].map((j) => {
    const column = page.columns[j];
    const value = valueText(column, record[j]);
    const text = ` is ${value}, because the text in its field is ${errorText(column)}.`;
    return el("p", { class: "invalid-note" }, "In this result ", bdi(column.name), text);
  });
}

function probabilityBars(page, result) {
  const order = result.probabilities.map((share, k) => [share, k]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const line = ([share, k]) => {
    const fill = el("i", { class: `fill ${page.colours[k]}` });
    fill.style.width = `${100 * share}%`;
    return el(
      "div",
      { class: "probability" },
      labelNode(page, k),
      el("span", { class: "track" }, fill),
      el("span", { class: "share" }, percent(share)),
    );
  };
  const few = order.slice(0, 8).map(line);
  if (order.length <= 8) return few;
  const others = `${order.length - 8} less likely class${order.length === 9 ? "" : "es"}`;
  return [...few, el("details", {}, el("summary", {}, others), ...order.slice(8).map(line))];
}

// The rules that cover the record, the deciding rule first, then all others by the number of conditions not met.
function reasons(page, model, result, open) {
  const others = [...model.bodies.keys()].filter((j) => !result.covering.includes(j) && j !== result.deciding);
  const first = [result.deciding, ...result.covering.filter((j) => j !== result.deciding)].filter((j) => j >= 0);
  const fails = (j) => result.checks[j].filter((met) => !met).length;
  others.sort((a, b) => fails(a) - fails(b) || a - b);
  const nodes = first.map((j) => ruleChecks(page, model, result, j));
  if (!first.length) nodes.push(el("p", {}, defaultText(page, model)));
  if (others.length) {
    const more = el(
      "details",
      { id: "others", open },
      el("summary", {}, `Other rules (${others.length}), by the number of conditions not met`),
    );
    more.append(...others.map((j) => ruleChecks(page, model, result, j)));
    nodes.push(more);
  }
  return nodes;
}

function showResult(page, model, record, invalid) {
  const result = decide(model, record);
  const node = (id) => document.getElementById(id);
  const open = Boolean(node("others") && node("others").open);
  node("prediction").replaceChildren(...prediction(page, model, result), ...invalidTexts(page, record, invalid));
  node("probabilities").replaceChildren(...probabilityBars(page, result));
  node("reasons").replaceChildren(...reasons(page, model, result, open));
  node("points").replaceChildren(...page.scorecards.map((card, s) => pointsNode(page, model, result, card, s)));
  Object.assign(node("result").dataset, {
    label: result.label,
    deciding: result.deciding,
    covering: JSON.stringify(result.covering),
    probabilities: JSON.stringify(result.probabilities),
  });
}

function addRecordOptions(page, select) {
  select.append(el("option", { value: "" }, "typical values"));
  page.records.forEach((sample, position) => {
    const right = sample.predicted === sample.actual ? "predicted right" : "predicted wrong";
    const name = `record ${sample.row}${sample.name === null ? "" : ` (index ${sample.name})`}`;
    select.append(el("option", { value: position }, `${name}: ${page.facts.classes[sample.actual]}, ${right}`));
  });
}

// Start the panel. Returns a function that shows one of the sampled records in it.
function startTry(page) {
  const model = readModel(page.model, page.columns);
  const initial = page.columns.map((column) => readValue(column, column.start));
  const record = [...initial];
  const invalid = new Set();
  const select = document.getElementById("pick");
  const update = () => showResult(page, model, record, invalid);
  const editOption = el("option", { value: "edited", hidden: true, disabled: true }, "edited values");
  const edit = () => {
    select.value = "edited"; // so that selecting the same record again is a change and restores its values
    update();
  };
  const used = page.columns.flatMap((column, j) => (column.used ? [j] : []));
  const fields = used.map((j) => makeField(page, record, invalid, j, edit));
  const load = (values) => {
    invalid.clear();
    record.splice(0, record.length, ...values);
    fields.forEach((field) => field.show());
    update();
  };
  addRecordOptions(page, select);
  select.append(editOption);
  select.addEventListener("change", () => load(select.value === "" ? initial : page.records[select.value].values));
  document.getElementById("fields").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("inputs").append(...fields.map((field) => field.node));
  load(initial);
  return (position) => {
    select.value = position;
    load(page.records[position].values);
    document.getElementById("try").scrollIntoView();
    select.focus({ preventScroll: true });
  };
}

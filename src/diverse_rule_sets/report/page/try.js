// Try a record: inputs for the columns that rules read, and the answer of decide() as they change.

function dateInput(column, micros) {
  const text = dateText(micros).replace(" ", "T");
  if (column.days) return text.slice(0, 10);
  return text.length === 10 ? `${text}T00:00` : text.slice(0, 23);
}

// What a person typed; undefined if it is not yet a value.
function typed(column, text) {
  if (column.kind === "number") return Number.isFinite(Number(text)) ? Number(text) : undefined;
  const moment = Date.parse(`${text}${text.includes("T") ? "" : "T00:00"}Z`);
  return Number.isNaN(moment) ? undefined : BigInt(moment) * 1000n;
}

const notYet = (column) => (column.kind === "number" ? "not a number" : "not a whole date");

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

// A number or a date, and a box for a missing one. What is half typed changes nothing, and that is said.
function typedField(column, id, label, get, set, refuse) {
  const type = column.kind === "number" ? "number" : column.days ? "date" : "datetime-local";
  const input = el("input", { id, type, step: type === "date" ? null : "any" });
  const name = `${column.name} is missing`;
  const box = el("input", { type: "checkbox", id: `${id}-missing`, "aria-label": name });
  const fault = el("small", { class: "fault", id: `${id}-fault`, hidden: true });
  input.setAttribute("aria-describedby", fault.id);
  const mark = (bad) => {
    input.setAttribute("aria-invalid", String(bad));
    fault.hidden = !bad;
    fault.textContent = bad ? `${notYet(column)}; the answer is for ${valueText(column, get())}` : "";
  };
  let last = readValue(column, column.start) ?? typed(column, type === "number" ? "0" : "2000-01-01");
  const show = () => {
    const value = get();
    last = value ?? last;
    box.checked = value === null;
    input.placeholder = value === null ? "missing" : valueText(column, value); // what the field itself cannot show
    input.value = value === null ? "" : type === "number" ? value : dateInput(column, value);
    mark(false);
  };
  input.addEventListener("input", () => {
    const value = input.value === "" ? null : typed(column, input.value);
    const bad = input.validity.badInput || value === undefined;
    mark(bad);
    if (bad) return refuse();
    box.checked = value === null;
    return set(value);
  });
  box.addEventListener("change", () => {
    set(box.checked ? null : last);
    show();
  });
  const gone = el("label", { class: "gone" }, box, "missing");
  return { show, node: el("div", { class: "field" }, label, input, fault, gone) };
}

// The record that is answered for, and the columns whose fields hold what is no value.
function makeField(page, record, doubts, j, update) {
  const column = page.columns[j];
  const id = `field-${j}`;
  const label = el("label", { for: id }, bdi(column.name), column.utc ? " (UTC)" : "");
  const make = column.kind === "choice" ? choiceField : typedField;
  const set = (value) => {
    doubts.delete(j);
    record[j] = value;
    update();
  };
  const refuse = () => {
    doubts.add(j);
    update();
  };
  return make(column, id, label, () => record[j], set, refuse);
}

function checkedRule(page, answer, record, j) {
  const rule = page.facts.rules[j];
  const items = page.phrases[j].map((part, c) => {
    const met = answer.checks[j][c];
    const column = page.columns[page.reads[j][c]];
    const mark = el("span", { class: met ? "met" : "unmet" }, met ? "✓" : "✗");
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", met ? "holds" : "does not hold");
    const own = el("small", { class: "own" }, "here: ", bdi(valueText(column, record[page.reads[j][c]])));
    return el("li", {}, mark, el("span", {}, conditionText(part), " ", own));
  });
  const title = el(
    "p",
    { class: "who" },
    el("b", {}, `${rule.fallback ? "Fallback" : "Rule"} ${j + 1}`),
    " says ",
    labelOf(page, rule.label_position),
  );
  if (j === answer.speaker) title.append(" ", el("strong", { class: "tag calm" }, "speaks"));
  return el(
    "div",
    { class: j === answer.speaker ? "checked speaks" : "checked" },
    title,
    el("ul", { class: "checks" }, ...items),
  );
}

function verdict(page, answer) {
  const n = answer.covering.length;
  const rule = answer.speaker < 0 ? null : page.facts.rules[answer.speaker];
  let why = "No rule and no fallback applies: this is the default.";
  if (rule && rule.fallback) why = `No rule applies; fallback ${answer.speaker + 1} speaks.`;
  else if (n === 1 && rule) why = `Rule ${answer.speaker + 1} applies and speaks.`;
  else if (rule) why = `${n} rules apply; rule ${answer.speaker + 1} speaks.`;
  else if (n) why = "The rules that apply settle it together.";
  return [el("p", { class: "said" }, "Answer ", labelOf(page, answer.answer)), el("p", { class: "because" }, why)];
}

// What is typed but not answered for.
function stale(page, record, doubts) {
  return [...doubts].map((j) => {
    const column = page.columns[j];
    const used = valueText(column, record[j]);
    return el("p", { class: "stale" }, "This is for ", bdi(column.name), ` ${used}: what is typed is ${notYet(column)}.`);
  });
}

function chances(page, answer) {
  const order = answer.probabilities.map((share, k) => [share, k]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const line = ([share, k]) => {
    const fill = el("i", { class: `fill ${page.colours[k]}` });
    fill.style.width = `${100 * share}%`;
    return el(
      "div",
      { class: "chance" },
      labelOf(page, k),
      el("span", { class: "track" }, fill),
      el("span", { class: "share" }, percent(share)),
    );
  };
  const few = order.slice(0, 8).map(line);
  if (order.length <= 8) return few;
  const others = `${order.length - 8} less likely class${order.length === 9 ? "" : "es"}`;
  return [...few, el("details", {}, el("summary", {}, others), ...order.slice(8).map(line))];
}

function reasons(page, model, answer, record, open) {
  const rest = [...model.bodies.keys()].filter((j) => !answer.covering.includes(j) && j !== answer.speaker);
  const first = [answer.speaker, ...answer.covering.filter((j) => j !== answer.speaker)].filter((j) => j >= 0);
  const fails = (j) => answer.checks[j].filter((met) => !met).length;
  rest.sort((a, b) => fails(a) - fails(b) || a - b);
  const nodes = first.map((j) => checkedRule(page, answer, record, j));
  if (!first.length) nodes.push(el("p", {}, "No rule and no fallback applies, so the default answers."));
  if (rest.length) {
    const more = el(
      "details",
      { id: "others", open },
      el("summary", {}, `What does not speak (${rest.length}), nearest first`),
    );
    more.append(...rest.map((j) => checkedRule(page, answer, record, j)));
    nodes.push(more);
  }
  return nodes;
}

function showAnswer(page, model, record, doubts) {
  const answer = decide(model, record);
  const place = (id) => document.getElementById(id);
  const open = Boolean(place("others") && place("others").open);
  place("verdict").replaceChildren(...verdict(page, answer), ...stale(page, record, doubts));
  place("chances").replaceChildren(...chances(page, answer));
  place("reasons").replaceChildren(...reasons(page, model, answer, record, open));
  Object.assign(place("answer").dataset, {
    answer: answer.answer,
    speaker: answer.speaker,
    fired: JSON.stringify(answer.covering),
    probabilities: JSON.stringify(answer.probabilities),
  });
}

function offerRecords(page, pick) {
  pick.append(el("option", { value: "" }, "typical values"));
  page.records.forEach((sample, place) => {
    const right = sample.answer === sample.actual ? "answered right" : "answered wrong";
    const name = `record ${sample.row}${sample.name === null ? "" : ` (index ${sample.name})`}`;
    pick.append(el("option", { value: place }, `${name}: ${page.facts.classes[sample.actual]}, ${right}`));
  });
}

// Returns a function that shows one of the sampled records in the panel.
function startTry(page) {
  const model = readModel(page.model, page.columns);
  const start = page.columns.map((column) => readValue(column, column.start));
  const record = [...start];
  const doubts = new Set();
  const pick = document.getElementById("pick");
  const update = () => showAnswer(page, model, record, doubts);
  const edited = el("option", { value: "edited", hidden: true, disabled: true }, "edited values");
  const edit = () => {
    pick.value = "edited"; // so that picking what was picked before is a change, and brings it back
    update();
  };
  const used = page.columns.flatMap((column, j) => (column.used ? [j] : []));
  const fields = used.map((j) => makeField(page, record, doubts, j, edit));
  const load = (values) => {
    doubts.clear();
    record.splice(0, record.length, ...values);
    fields.forEach((field) => field.show());
    update();
  };
  offerRecords(page, pick);
  pick.append(edited);
  pick.addEventListener("change", () => load(pick.value === "" ? start : page.records[pick.value].values));
  document.getElementById("fields").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("inputs").append(...fields.map((field) => field.node));
  load(start);
  return (place) => {
    pick.value = place;
    load(page.records[place].values);
    document.getElementById("try").scrollIntoView();
    pick.focus({ preventScroll: true });
  };
}

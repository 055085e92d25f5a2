"use strict";
// The page's script: it makes what is folded away as data when that is opened, sorts and filters the trials, shows the
// values of plots at the pointer, at a touch and with the arrow keys, zooms plots over time, and saves plots as files.
//
// The data of a plot are in its own attributes. data-x and data-y of a plot are the names of its axes, data-area has the
// left, top, right and bottom of its area, and data-time the end of its axis of time. A series is a group with its name
// (data-n), and with places (data-x) and values (data-y), one for each corner of its line or each marker. Without data-x
// it has the places of an earlier series, but for the last one, which is data-last.
(() => {
  const PLOTS = "svg[data-area]";
  const NS = "http://www.w3.org/2000/svg";
  const element = (name, ...children) => {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  };
  const drawn = (name, attributes) => {
    const made = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const numbers = (text) => (text.match(/-?[\d.]+/g) ?? []).map(Number);
  const areaOf = (svg) => numbers(svg.dataset.area);

  // ---------------------------------------------------------------- parts that are made when they are opened

  let unpacked = null;
  function parts() {
    unpacked ??= (async () => {
      const packed = document.getElementById("parts")?.textContent ?? "";
      const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
      return JSON.parse(await new Response(stream).text());
    })();
    return unpacked;
  }

  async function fill(owner, target) {
    if (owner.dataset.filled) return;
    owner.dataset.filled = "1";
    const html = (await parts())[Number(owner.dataset.part)];
    target.insertAdjacentHTML("beforeend", html);
    equip(target);
  }

  async function openTrial(row, isOpen = true) {
    row.querySelector("button").setAttribute("aria-expanded", String(isOpen));
    let below = row.nextElementSibling;
    if (!below?.classList.contains("opened")) {
      below = element("tr", element("td"));
      below.className = "opened";
      below.firstChild.colSpan = row.cells.length;
      row.after(below);
    }
    below.hidden = !isOpen;
    if (isOpen) await fill(row, below.firstChild);
  }

  // Opens whatever the element with an id is in.
  async function reveal(id) {
    if (!id) return;
    if (!document.getElementById(id)) {
      const all = await parts();
      const at = all.findIndex((html) => html.includes(` id="${CSS.escape(id)}"`));
      const above = all.findIndex((html) => html.includes(`<tr data-part="${at}"`));
      for (const part of [above, at].filter((part) => part >= 0)) {
        const owner = document.querySelector(`[data-part="${part}"]`);
        if (owner?.tagName === "TR") await openTrial(owner);
        else if (owner) {
          owner.open = true;
          await fill(owner, owner);
        }
      }
    }
    const found = document.getElementById(id);
    for (let around = found; around; around = around.parentElement) {
      if (around.tagName === "DETAILS") around.open = true;
    }
    found?.scrollIntoView();
  }

  document.addEventListener("toggle", ({ target }) => {
    if (target.open && target.dataset.part) fill(target, target);
  }, true);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (link) {
      event.preventDefault();
      history.replaceState(null, "", link.hash);
      reveal(link.hash.slice(1));
    }
    const button = event.target.closest?.("table.trials tr[data-part] > td > button");
    if (button) openTrial(button.closest("tr"), button.getAttribute("aria-expanded") !== "true");
  });

  // ---------------------------------------------------------------- sorting and filtering of trials

  const rows = (table) => [...table.tBodies[0].rows].filter((row) => row.dataset.part);
  const valueOf = (row, at) => {
    const text = row.cells[at].textContent;
    const unit = { "µs": 1e-6, ms: 1e-3 }[text.split(" ").pop()] ?? 1;
    const number = Number.parseFloat(text.replace(/[,≥ ]/g, ""));
    return row.cells[at].className === "n" ? number * unit || 0 : text;
  };

  function sort(table, at, head) {
    const isDown = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    const sorted = rows(table).sort((one, other) => {
      const [a, b] = [valueOf(one, at), valueOf(other, at)];
      const order = typeof a === "number" ? a - b : a.localeCompare(b);
      return isDown ? -order : order;
    });
    for (const row of sorted) {
      const below = row.nextElementSibling?.classList.contains("opened") ? row.nextElementSibling : null;
      table.tBodies[0].append(row, ...(below ? [below] : []));
    }
  }

  function equipTrials(table) {
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const button = element("button", ...head.childNodes);
      button.type = "button";
      button.addEventListener("click", () => sort(table, at, head));
      head.append(button);
    });
    const filter = table.closest(".scroll").previousElementSibling;
    const verdicts = [...new Set(rows(table).map((row) => row.dataset.verdict))];
    if (verdicts.length > 1) {
      for (const verdict of ["all", ...verdicts]) {
        const button = element("button", verdict);
        button.type = "button";
        button.setAttribute("aria-pressed", String(verdict === "all"));
        button.addEventListener("click", () => {
          for (const other of filter.children) other.setAttribute("aria-pressed", String(other === button));
          for (const row of rows(table)) {
            row.hidden = verdict !== "all" && row.dataset.verdict !== verdict;
            const below = row.nextElementSibling;
            if (below?.classList.contains("opened")) {
              below.hidden = row.hidden || row.querySelector("button").getAttribute("aria-expanded") !== "true";
            }
          }
        });
        filter.append(button);
      }
    }
    rows(table).filter((row) => row.dataset.open).forEach((row) => openTrial(row));
  }

  // ---------------------------------------------------------------- values at the pointer

  const plots = new Map();
  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  let shown = null;
  let guides = [];
  let lit = null;

  // Where the points of a series are, in units of the drawing.
  function positions(series) {
    const line = series.querySelector(".line");
    if (line) return line.getAttribute("d").split("L").map(numbers);
    return [...series.querySelectorAll(".marker")].map((marker) => {
      if (marker.tagName !== "rect") return numbers(marker.getAttribute("d"));
      const of = (name) => Number(marker.getAttribute(name));
      return [of("x") + of("width") / 2, of("y")];
    });
  }

  // A plot is read when it is first pointed at. Its own tooltips, for pages without scripts, are then removed.
  function read(svg) {
    if (plots.has(svg)) return plots.get(svg);
    const keys = svg.closest("figure").querySelectorAll(".legend li svg");
    const [left, , right] = areaOf(svg);
    const { from = left, width = right - left } = zooms.get(svg) ?? {};
    const place = (x) => left + ((x - from) / width) * (right - left);
    const points = [];
    let known = [];
    svg.querySelectorAll("g[data-n]").forEach((series, at) => {
      const { n: name, x: places, y, last } = series.dataset;
      const values = y.split("|");
      if (places !== undefined) known = places.split("|");
      if (series.classList.contains("off")) return;
      positions(series).forEach(([x, y], i) => {
        const at_x = i + 1 === values.length && last !== undefined ? last : known[i];
        const point = { x: place(x), y, place: at_x, value: values[i], name, at, key: keys[at] };
        if (at_x && y !== undefined && point.x > left - 1 && point.x < right + 1) points.push(point);
      });
    });
    const notes = [...svg.querySelectorAll(".shade, .mark")].map((spot) => {
      const { x, width } = spot.getBBox();
      return { from: place(x), to: place(x + width), text: spot.querySelector("title")?.textContent ?? spot.dataset.note };
    });
    svg.querySelectorAll("title").forEach((title) => {
      title.parentNode.dataset.note = title.textContent;
      title.remove();
    });
    const plot = { svg, points, notes };
    plots.set(svg, plot);
    return plot;
  }

  const at = (svg, event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());

  function nearest({ svg, points }, event) {
    const pointer = at(svg, event);
    const isByPoint = svg.dataset.by === "point";
    const far = (point) => Math.hypot(point.x - pointer.x, isByPoint ? point.y - pointer.y : 0);
    return points.reduce((best, point) => (best && far(best) <= far(point) ? best : point), null);
  }

  // One point of each series at the same place.
  function row({ points }, at) {
    const of = new Map();
    for (const point of points.filter((point) => point.place === at.place)) {
      const other = of.get(point.at);
      if (!other || Math.abs(point.x - at.x) < Math.abs(other.x - at.x)) of.set(point.at, point);
    }
    return [...of.values()];
  }

  function show(plot, point) {
    hide();
    if (!point) return;
    shown = { plot, point };
    const points = row(plot, point);
    const { x: axis, y: figure } = plot.svg.dataset;
    const body = points.map(({ key, name, value }) =>
      element("tr", element("td", key?.cloneNode(true) ?? ""), element("td", name), element("td", value)));
    const notes = plot.notes.filter(({ from, to }) => from <= point.x && point.x <= to);
    tip.replaceChildren(
      element("b", `${axis}: ${point.place}`),
      element("small", figure),
      element("table", ...body),
      ...notes.map(({ text }) => element("p", text)),
    );
    tip.hidden = false;
    mark(plot.svg, point.x, points);
    if (plot.svg.dataset.time) markOthers(plot.svg, point.x);
    place(plot.svg, point);
  }

  function mark(svg, x, points = []) {
    const [, top, , bottom] = areaOf(svg);
    const ring = ({ x, y }) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`;
    const guide = drawn("path", { class: "guide", d: `M${x} ${top}V${bottom}${points.map(ring).join("")}` });
    svg.append(guide);
    guides.push(guide);
  }

  // The same time in the other plots beside it.
  function markOthers(svg, x) {
    const around = svg.closest(".opened, section, details.fold");
    const time = timeOf(svg, x);
    for (const other of around?.querySelectorAll("svg[data-time]") ?? []) {
      const [from, to] = span(other);
      if (other === svg || time < from || time > to) continue;
      const [left, , right] = areaOf(other);
      mark(other, left + ((time - from) / (to - from)) * (right - left));
    }
  }

  function place(svg, { x, y }) {
    const spot = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
    const { offsetWidth: width, offsetHeight: height } = tip;
    const isRight = spot.x + 14 + width < innerWidth - 8;
    tip.style.left = `${Math.max(8, isRight ? spot.x + 14 : spot.x - 14 - width)}px`;
    tip.style.top = `${Math.max(8, Math.min(spot.y - height / 2, innerHeight - height - 8))}px`;
  }

  function hide() {
    tip.hidden = true;
    guides.forEach((guide) => guide.remove());
    guides = [];
    shown = null;
  }

  // ---------------------------------------------------------------- zooming of plots over time

  // Which part of the drawing is shown, in its own units.
  const zooms = new Map();
  let drag = null;

  function span(svg) {
    const [left, , right] = areaOf(svg);
    const { from = left, width = right - left } = zooms.get(svg) ?? {};
    const time = (x) => ((x - left) / (right - left)) * Number(svg.dataset.time);
    return [time(from), time(from + width)];
  }

  function timeOf(svg, x) {
    const [left, , right] = areaOf(svg);
    const [from, to] = span(svg);
    return from + ((x - left) / (right - left)) * (to - from);
  }

  function zoom(svg, from, to) {
    const [left, , right, bottom] = areaOf(svg);
    const height = svg.viewBox.baseVal.height;
    const end = Number(svg.dataset.time);
    const x = (time) => left + (time / end) * (right - left);
    let inner = svg.querySelector("svg.zoomed");
    if (!inner) {
      inner = drawn("svg", { class: "zoomed", x: left, y: 0, width: right - left, height, preserveAspectRatio: "none" });
      inner.append(...svg.querySelectorAll(":scope > .shade, :scope > .band, :scope > g:not(.x)"));
      svg.append(inner);
    }
    const isWhole = from <= 0 && to >= end;
    const [start, width] = isWhole ? [left, right - left] : [x(from), x(to) - x(from)];
    inner.setAttribute("viewBox", `${start} 0 ${width} ${height}`);
    if (isWhole) zooms.delete(svg);
    else zooms.set(svg, { from: start, width });
    plots.delete(svg);
    ticks(svg.querySelector("g.x"), isWhole ? [0, end] : [from, to], [left, right, bottom]);
    hide();
  }

  function ticks(group, [from, to], [left, right, bottom]) {
    const raw = (to - from) / 6;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= raw) * power;
    const made = [];
    for (let at = Math.ceil(from / step); at * step <= to * 1.001; at += 1) {
      const x = left + ((at * step - from) / (to - from)) * (right - left);
      const text = drawn("text", { class: "tick", x, y: bottom + 18, "text-anchor": "middle" });
      text.textContent = String(Number((at * step).toPrecision(6)));
      made.push(drawn("path", { class: "axis", d: `M${x} ${bottom}v5` }), text);
    }
    group.replaceChildren(...made);
  }

  function beginDrag(event) {
    const svg = event.target.closest?.("svg[data-time]");
    if (!svg || event.button !== 0 || event.pointerType === "touch") return;
    const [, top, , bottom] = areaOf(svg);
    const box = drawn("rect", { class: "chosen", x: 0, y: top, width: 0, height: bottom - top });
    drag = { svg, x: at(svg, event).x, box };
    svg.append(box);
    event.preventDefault();
  }

  const within = (svg, x) => Math.min(Math.max(x, areaOf(svg)[0]), areaOf(svg)[2]);

  function moveDrag(event) {
    const x = within(drag.svg, at(drag.svg, event).x);
    drag.box.setAttribute("x", Math.min(x, drag.x));
    drag.box.setAttribute("width", Math.abs(x - drag.x));
  }

  function endDrag(event) {
    if (!drag) return;
    const { svg, x: start, box } = drag;
    drag = null;
    box.remove();
    const ends = [within(svg, start), within(svg, at(svg, event).x)].sort((a, b) => a - b);
    if (ends[1] - ends[0] > 6) zoom(svg, timeOf(svg, ends[0]), timeOf(svg, ends[1]));
  }

  // ---------------------------------------------------------------- legends

  // The series of an item of a legend stands out.
  function emphasize(item) {
    if (item === lit?.item) return;
    lit?.svg.classList.remove("dim");
    lit?.series?.classList.remove("lit");
    lit = null;
    if (!item) return;
    const svg = item.closest("figure").querySelector(PLOTS);
    const series = seriesOf(item);
    lit = { item, svg, series };
    svg.classList.toggle("dim", series !== undefined && !series.classList.contains("off"));
    series?.classList.add("lit");
  }

  function seriesOf(item) {
    const svg = item.closest("figure").querySelector(PLOTS);
    return svg.querySelectorAll("g[data-n]")[[...item.parentNode.children].indexOf(item)];
  }

  function equipLegend(item) {
    const series = seriesOf(item);
    if (!series) return;
    const button = element("button", ...item.childNodes);
    button.type = "button";
    button.title = "Hide or show this line";
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const isOff = series.classList.toggle("off");
      button.setAttribute("aria-pressed", String(!isOff));
      plots.delete(series.closest(PLOTS));
      hide();
      emphasize(null);
    });
    item.append(button);
  }

  // ---------------------------------------------------------------- saving of plots

  const titleOf = (figure) => {
    const caption = figure.querySelector("figcaption");
    const of = caption?.querySelector("small")?.textContent ?? figure.dataset.of ?? "";
    const title = caption?.firstChild.textContent ?? figure.dataset.title ?? document.title;
    return [title, of, document.querySelector("header .meta")?.textContent ?? ""];
  };

  function folded(line, most) {
    const lines = [""];
    for (const word of line.split(" ")) {
      if (lines.at(-1).length + word.length >= most) lines.push("");
      lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
    }
    return lines;
  }

  // The plot as a picture of its own, with its title, the systems, the machine and the verdict.
  function picture(figure) {
    const svg = figure.querySelector(PLOTS);
    const copy = svg.cloneNode(true);
    copy.querySelectorAll(".guide, .chosen").forEach((it) => it.remove());
    const drawing = svg.viewBox.baseVal;
    const wide = Math.max(drawing.width, 560);
    const [width, height] = [wide, (drawing.height * wide) / drawing.width];
    const legend = [...figure.querySelectorAll(".legend li")].map((it) => it.textContent);
    const lines = [...titleOf(figure), legend.join(" · ")].filter(Boolean).flatMap((line) => folded(line, wide / 6.6));
    const top = 12 + 16 * lines.length;
    const picture = drawn("svg", { class: figure.closest(".card") ? "card" : "", viewBox: `0 0 ${wide} ${height + top}`, width: wide, height: height + top });
    picture.setAttribute("xmlns", NS);
    const style = getComputedStyle(document.documentElement);
    const names = ["paper", "ink", "soft", "rule", "panel", "good", "bad", "warn", "edge"];
    const colours = [...names, ...Array.from({ length: 8 }, (_, at) => `c${at}`)];
    for (const name of colours) picture.style.setProperty(`--${name}`, style.getPropertyValue(`--${name}`));
    picture.style.fontFamily = "system-ui, sans-serif";
    const sheet = drawn("style", {});
    sheet.textContent = document.querySelector("style").textContent.replace(/:root \{[^}]*\}/g, "");
    picture.append(sheet, drawn("rect", { width: "100%", height: "100%", fill: style.getPropertyValue("--paper") }));
    lines.forEach((line, at) => {
      const text = drawn("text", { x: 8, y: 18 + 16 * at, class: at ? "tick" : "label" });
      text.textContent = line;
      picture.append(text);
    });
    for (const [name, value] of [["x", 0], ["y", top], ["width", width], ["height", height]]) copy.setAttribute(name, value);
    picture.append(copy);
    return new XMLSerializer().serializeToString(picture);
  }

  function save(name, blob) {
    const link = element("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  function savePng(name, text) {
    const image = new Image();
    image.onload = () => {
      const canvas = element("canvas");
      [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(name, blob));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  }

  function csv(figure) {
    const svg = figure.querySelector(PLOTS);
    const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
    const head = ["series", svg.dataset.x, svg.dataset.y];
    const lines = read(svg).points.map(({ name, place, value }) => [name, place, value]);
    return [...titleOf(figure).map((line) => [line]), head, ...lines].map((line) => line.map(quoted).join(",")).join("\n") + "\n";
  }

  function equipFigure(figure) {
    const svg = figure.querySelector(PLOTS);
    if (!svg || figure.querySelector(".menu")) return;
    svg.setAttribute("tabindex", "0");
    figure.querySelectorAll(".legend li").forEach(equipLegend);
    const name = titleOf(figure)[0].replace(/[^\w.-]+/g, "-");
    const kinds = {
      SVG: () => save(`${name}.svg`, new Blob([picture(figure)], { type: "image/svg+xml" })),
      PNG: () => savePng(`${name}.png`, picture(figure)),
      CSV: () => save(`${name}.csv`, new Blob([csv(figure)], { type: "text/csv" })),
    };
    const buttons = Object.entries(kinds).map(([kind, act]) => {
      const button = element("button", kind);
      button.type = "button";
      button.addEventListener("click", act);
      return button;
    });
    const summary = element("summary", "⋯");
    summary.setAttribute("aria-label", "Save this plot");
    const menu = element("details", summary, ...buttons);
    menu.className = "menu";
    figure.append(menu);
  }

  // ---------------------------------------------------------------- the page as a whole

  function equip(root) {
    root.querySelectorAll("figure").forEach(equipFigure);
    root.querySelectorAll("table.trials").forEach(equipTrials);
  }

  function copyTable(button) {
    const table = document.querySelector("#loads table");
    const cells = (row) => [...row.cells].filter((cell) => !cell.querySelector("span[style]") && cell.textContent !== "throughput");
    const text = (cell) => cell.querySelector("i")?.getAttribute("aria-label") ?? cell.textContent;
    const lines = [...table.rows].map((row) => `| ${cells(row).map(text).join(" | ")} |`);
    const rule = `|${" --- |".repeat(cells(table.rows[0]).length)}`;
    const title = document.querySelector("h1").textContent;
    const about = document.querySelector("header .meta").textContent;
    navigator.clipboard.writeText([`**${title}**`, "", about, "", lines[0], rule, ...lines.slice(1)].join("\n") + "\n")
      .then(() => { button.textContent = "Copied"; }, () => { button.textContent = "Not copied"; });
  }

  const nav = document.querySelector("nav");
  if (nav && document.querySelector("#loads table") && navigator.clipboard) {
    const button = element("button", "Copy as Markdown");
    button.type = "button";
    button.addEventListener("click", () => copyTable(button));
    nav.append(button);
  }
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      const own = nav.querySelector(`a[href="#${target.id}"]`) ?? nav.querySelector("a");
      nav.querySelectorAll("a").forEach((link) => link.classList.toggle("on", link === own));
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  if (nav) document.querySelectorAll("main > section, main > details").forEach((it) => seen.observe(it));

  function point(event) {
    if (drag) return moveDrag(event);
    const svg = event.target.closest?.(PLOTS);
    if (svg) show(read(svg), nearest(read(svg), event));
    else if (shown) hide();
    emphasize(event.target.closest?.(".legend li") ?? null);
  }

  function step(event) {
    const svg = event.target.closest?.(PLOTS);
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") {
      hide();
      if (svg?.dataset.time) zoom(svg, 0, Number(svg.dataset.time));
    }
    if (!svg || by === undefined) return;
    event.preventDefault();
    const plot = read(svg);
    const stops = [...new Map(plot.points.map((point) => [point.place, point])).values()];
    stops.sort((one, other) => one.x - other.x || other.y - one.y);
    const now = shown?.plot === plot ? stops.findIndex(({ place }) => place === shown.point.place) : -1;
    show(plot, stops[Math.max(0, Math.min(now + by, stops.length - 1))]);
  }

  equip(document);
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", (event) => {
    point(event);
    beginDrag(event);
  });
  document.addEventListener("pointerup", endDrag);
  document.addEventListener("dblclick", (event) => {
    const svg = event.target.closest?.("svg[data-time]");
    if (svg) zoom(svg, 0, Number(svg.dataset.time));
  });
  document.addEventListener("keydown", step);
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  addEventListener("hashchange", () => reveal(location.hash.slice(1)));
  reveal(location.hash.slice(1));
  // What is folded but not packed is printed.
  let opened = [];
  addEventListener("beforeprint", () => {
    hide();
    opened = [...document.querySelectorAll("details.fold:not([open]):not([data-part])")];
    opened.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((details) => (details.open = false)));
})();

"use strict";
// Shows the values of plots at the pointer, at a touch, and with the arrow keys. The data is in the plots' own
// attributes: data-x and data-y of a plot are the names of its axes. A series is a group with its name (data-n), and
// with places (data-x) and values (data-y), one for each corner of its line or each marker. Without data-x it has the
// places of an earlier series, but for the last one, which is data-last.
(() => {
  const PLOTS = "svg[data-area]";
  const plots = new Map();
  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  let shown = null;
  let guide = null;
  let lit = null;

  const element = (name, ...children) => {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  };
  const numbers = (text) => (text.match(/-?[\d.]+/g) ?? []).map(Number);

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
    const keys = svg.closest("figure").querySelectorAll(".legend li > svg");
    const points = [];
    let known = [];
    svg.querySelectorAll("g[data-n]").forEach((series, at) => {
      const { n: name, x: places, y, last } = series.dataset;
      const values = y.split("|");
      if (places !== undefined) known = places.split("|");
      positions(series).forEach(([x, y], i) => {
        const place = i + 1 === values.length && last !== undefined ? last : known[i];
        if (place && y !== undefined) points.push({ x, y, place, value: values[i], name, at, key: keys[at] });
      });
    });
    const notes = [...svg.querySelectorAll(".shade, .mark")].map((spot) => {
      const { x, width } = spot.getBBox();
      return { from: x, to: x + width, text: spot.querySelector("title").textContent };
    });
    svg.querySelectorAll("title").forEach((title) => title.remove());
    const plot = { svg, points, notes };
    plots.set(svg, plot);
    return plot;
  }

  function nearest({ svg, points }, event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const isByPoint = svg.dataset.by === "point";
    const far = (point) => Math.hypot(point.x - at.x, isByPoint ? point.y - at.y : 0);
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
    mark(plot.svg, point, points);
    place(plot.svg, point);
  }

  function mark(svg, { x }, points) {
    const [top, bottom] = numbers(svg.dataset.area);
    const ring = ({ x, y }) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`;
    guide = document.createElementNS(svg.namespaceURI, "path");
    guide.setAttribute("class", "guide");
    guide.setAttribute("d", `M${x} ${top}V${bottom}${points.map(ring).join("")}`);
    svg.append(guide);
  }

  function place(svg, { x, y }) {
    const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
    const { offsetWidth: width, offsetHeight: height } = tip;
    const isRight = at.x + 14 + width < innerWidth - 8;
    tip.style.left = `${Math.max(8, isRight ? at.x + 14 : at.x - 14 - width)}px`;
    tip.style.top = `${Math.max(8, Math.min(at.y - height / 2, innerHeight - height - 8))}px`;
  }

  function hide() {
    tip.hidden = true;
    guide?.remove();
    guide = shown = null;
  }

  // The series of an item of a legend stands out.
  function emphasize(item) {
    if (item === lit?.item) return;
    lit?.svg.classList.remove("dim");
    lit?.series?.classList.remove("lit");
    lit = null;
    if (!item) return;
    const svg = item.closest("figure").querySelector(PLOTS);
    const series = svg.querySelectorAll("g[data-n]")[[...item.parentNode.children].indexOf(item)];
    lit = { item, svg, series };
    svg.classList.toggle("dim", series !== undefined);
    series?.classList.add("lit");
  }

  function point(event) {
    const svg = event.target.closest?.(PLOTS);
    if (svg) show(read(svg), nearest(read(svg), event));
    else if (shown) hide();
    emphasize(event.target.closest?.(".legend li") ?? null);
  }

  function step(event) {
    const svg = event.target.closest?.(PLOTS);
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") hide();
    if (!svg || by === undefined) return;
    event.preventDefault();
    const plot = read(svg);
    const stops = [...new Map(plot.points.map((point) => [point.place, point])).values()];
    stops.sort((one, other) => one.x - other.x || other.y - one.y);
    const now = shown?.plot === plot ? stops.findIndex(({ place }) => place === shown.point.place) : -1;
    show(plot, stops[Math.max(0, Math.min(now + by, stops.length - 1))]);
  }

  document.querySelectorAll(PLOTS).forEach((svg) => svg.setAttribute("tabindex", "0"));
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  document.addEventListener("keydown", step);
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  // Browsers whose style sheets cannot open what is folded.
  let opened = [];
  addEventListener("beforeprint", () => {
    hide();
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((details) => (details.open = false)));
})();

"use strict";
// What is folded is made when it is opened, and so are the trials in it.
// Time is virtual: a longer wait costs nothing but gives a busy machine the turns in which to unpack.
const settled = () => new Promise((done) => setTimeout(done, 4500));
async function openAll() {
  const open = () => document.querySelectorAll("details:not(.menu)").forEach((details) => (details.open = true));
  open();
  await settled();
  document.querySelectorAll("table.trials tr[data-part] > td > button[aria-expanded=false]").forEach((button) => button.click());
  await settled();
  open();
  await settled();
}
const tip = document.querySelector(".tip");
const numbers = (text) => text.match(/-?[\d.]+/g).map(Number);

// Corners of lines; centres of markers and the tops of bars.
function corners(series) {
  const line = series.querySelector(".line");
  if (line) return (line.getAttribute("d").match(/[ML][^MLh]+/g) ?? []).map(numbers);
  return [...series.querySelectorAll(".marker")].map((marker) => {
    const { x, y, width } = marker.getBBox();
    return marker.tagName === "rect" ? [x + width / 2, y] : numbers(marker.getAttribute("d"));
  });
}

function shownAt(svg, [x, y]) {
  const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
  svg.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: at.x, clientY: at.y }));
  const rows = [...tip.querySelectorAll("tr")].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent));
  return tip.hidden ? null : { place: tip.querySelector("b").textContent, values: Object.fromEntries(rows) };
}

openAll().then(() => {
  const told = [...document.querySelectorAll("figure")].map((figure) => {
    const svg = figure.querySelector("svg[data-area]");
    const shapes = [...svg.querySelectorAll("g[data-n] .line, g[data-n] .marker")].map((shape) => shape.getBBox());
    // All of a short line, some of a long one.
    const points = [...svg.querySelectorAll("g[data-n]")].flatMap((series) => {
      const all = corners(series);
      return all.filter((_, at) => all.length < 12 || at % 16 === 0 || at + 1 === all.length);
    });
    const caption = figure.querySelector("figcaption");
    return {
      title: caption ? caption.firstChild.textContent : `${figure.dataset.title} (card)`,
      drawn: shapes.filter(({ width, height }) => width + height > 0).length,
      shown: points.map((point) => shownAt(svg, point)).filter(Boolean),
    };
  });
  document.getElementById("told").textContent = JSON.stringify(told);
});

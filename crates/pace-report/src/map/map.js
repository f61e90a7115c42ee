"use strict";
for (const map of document.querySelectorAll("figure.map")) {
  const data = JSON.parse(map.querySelector("script").textContent);
  const shown = map.querySelector(".shown");
  const hint = shown.firstElementChild;
  const SVG = "http://www.w3.org/2000/svg";
  const make = (parent, name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return parent.appendChild(element);
  };
  const views = [...map.querySelectorAll(".view svg")].map((svg) => {
    const dots = [...svg.querySelectorAll("circle")];
    const places = dots.map((dot) => [+dot.getAttribute("cx"), +dot.getAttribute("cy")]);
    return { svg, places, ring: make(svg, "circle", { class: "ring", r: 7, visibility: "hidden" }) };
  });
  const drawn = data.points.map((_, point) => point).filter((point) => data.points[point][1] !== null);
  let current = -1;
  const draw = (drawing) => {
    const [width, height, nodes, lines, heads] = data.drawings[drawing];
    const svg = document.createElementNS(SVG, "svg");
    const [wide, high] = [width + 8, height + 8];
    const scale = Math.min(1, 320 / high);
    const attributes = { class: "dag", role: "img", viewBox: `-4 -4 ${wide} ${high}`, width: wide * scale, height: high * scale };
    for (const key in attributes) svg.setAttribute(key, attributes[key]);
    svg.setAttribute("aria-label", nodes.map((node) => data.ops[node[2]][1]).join(", "));
    make(svg, "path", { class: "edge", d: lines });
    make(svg, "path", { class: "head", d: heads });
    for (const [x, y, op] of nodes) {
      const [label, name, look, wide] = data.ops[op];
      const node = make(svg, "g", { class: look, transform: `translate(${x} ${y})` });
      make(node, "title", {}, name);
      make(node, "rect", { x: -wide / 2, y: -data.height / 2, width: wide, height: data.height, rx: 5 });
      make(node, "text", { dy: ".35em" }, label);
    }
    return svg;
  };
  const show = (point) => {
    if (point === undefined || point === current) return;
    current = point;
    const line = document.createElement("p");
    line.textContent = `${data.score} ${data.points[point][0]}`;
    shown.replaceChildren(line, draw(data.points[point][1]), hint);
    for (const { ring, places } of views) {
      ring.setAttribute("cx", places[point][0]);
      ring.setAttribute("cy", places[point][1]);
      ring.setAttribute("visibility", "visible");
    }
  };
  const least = (points, cost) => {
    let best, lowest = Infinity;
    for (const point of points) {
      const found = cost(point);
      if (found < lowest) [best, lowest] = [point, found];
    }
    return best;
  };
  for (const { svg, places } of views) {
    const point = (event) => {
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      show(least(drawn, (point) => {
        const distance = Math.hypot(places[point][0] - x, places[point][1] - y);
        return distance < 24 ? distance : Infinity;
      }));
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("role", "application");
    svg.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      const end = { Home: drawn[0], End: drawn[drawn.length - 1] }[event.key];
      if (!way && end === undefined) return;
      event.preventDefault();
      if (!way) return show(end);
      show(least(drawn, (point) => {
        const [x, y] = [places[point][0] - places[current][0], places[point][1] - places[current][1]];
        const [ahead, aside] = [x * way[0] + y * way[1], Math.abs(x * way[1]) + Math.abs(y * way[0])];
        return ahead > 0.3 && aside <= 2 * ahead ? ahead + 2 * aside : Infinity;
      }));
    });
  }
  if (drawn.length) {
    map.classList.add("ready");
    show(drawn[drawn.length - 1]);
  }
}

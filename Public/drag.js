// Moves a row to another place in its list, by its handle or with a finger that holds it, and swipes it to a side.

import { onKey } from "./shortcuts.js";

const HOLD = 400; // milliseconds
const SLOP = 10; // pixels that a finger trembles
const FAR = 90; // pixels after which a swipe acts
const EDGE = 70; // pixels from the edge of the window within which the page scrolls
const FASTEST = 14; // pixels a frame

/** Lets the rows of a list be dragged by their handles. `drop` is told the row and its new neighbour: (row, {after} or {before}). `rest` is
 * told a row that a finger has held and not moved. `end` is called after both, and when the person has given up. Returns {begin, isActive}:
 * `begin` drags a row from where the pointer of an event is; false if the row cannot be moved. */
export function dragging(list, { drop, rest, end }) {
  let drag; // {pointer, y, from, row, index, height, middle, others, place, frame} while a row is being dragged
  const isActive = () => drag !== undefined;
  const isOwn = (event) => event.pointerId === drag?.pointer;

  const begin = (row, event) => {
    if (isActive() || row.matches(".done, .editing, .held, :only-child, .by-due > li")) return false;
    event.preventDefault();
    list.setPointerCapture(event.pointerId);
    const rows = [...list.children];
    const index = rows.indexOf(row);
    const boxes = rows.map((other) => other.getBoundingClientRect());
    const middles = boxes.map((box) => (box.top + box.bottom) / 2 + scrollY);
    const others = rows.map((other, at) => ({ row: other, middle: middles[at] })).filter((other) => other.row !== row);
    const { pointerId: pointer, clientY: y } = event;
    drag = {
      pointer, y, from: y + scrollY, isTouch: event.pointerType === "touch", isMoved: false,
      row, index, height: boxes[index].height, middle: middles[index], others, place: index,
    };
    row.classList.add("dragged");
    list.classList.add("dragging");
    drag.frame = requestAnimationFrame(scroll);
    return true;
  };

  /** Moves the row with the pointer; the rows that it has passed make room. */
  const move = (y) => {
    drag.y = y;
    const distance = y + scrollY - drag.from;
    drag.isMoved ||= Math.abs(distance) > SLOP;
    drag.row.style.transform = `translateY(${distance}px)`;
    const place = drag.others.filter(({ middle }) => middle < drag.middle + distance).length;
    if (place === drag.place) return;
    const [first, last] = [Math.min(place, drag.place), Math.max(place, drag.place)];
    drag.place = place;
    for (let at = first; at < last; at += 1) {
      const shift = at < drag.index ? (at >= place ? drag.height : 0) : at < place ? -drag.height : 0;
      drag.others[at].row.style.transform = shift ? `translateY(${shift}px)` : "";
    }
  };

  /** Scrolls the page while the pointer is near the edge of the window. */
  const scroll = () => {
    const beyond = Math.min(drag.y - EDGE, 0) + Math.max(drag.y - (innerHeight - EDGE), 0);
    if (beyond) {
      scrollBy({ top: (FASTEST * Math.max(-EDGE, Math.min(beyond, EDGE))) / EDGE, behavior: "instant" });
      move(drag.y);
    }
    drag.frame = requestAnimationFrame(scroll);
  };

  const finish = (isDropped) => {
    const { pointer, frame, row, others, index, place, isTouch, isMoved } = drag;
    drag = undefined;
    cancelAnimationFrame(frame);
    if (list.hasPointerCapture(pointer)) list.releasePointerCapture(pointer);
    row.classList.remove("dragged");
    list.classList.remove("dragging");
    for (const moved of [row, ...others.map((other) => other.row)]) moved.style.transform = "";
    if (isDropped && place !== index) drop(row, place ? { after: others[place - 1].row } : { before: others[0].row });
    else if (isDropped && isTouch && !isMoved) rest(row);
    end();
  };

  list.addEventListener("pointerdown", (event) => {
    const row = event.target.closest(".handle")?.closest("li");
    if (row && event.button === 0) begin(row, event);
  });
  const stay = (event) => isActive() && event.preventDefault(); // no scrolling
  list.addEventListener("touchmove", stay, { passive: false });
  list.addEventListener("pointermove", (event) => isOwn(event) && move(event.clientY));
  addEventListener("scroll", () => isActive() && move(drag.y)); // by a wheel, too
  list.addEventListener("pointerup", (event) => isOwn(event) && finish(true));
  list.addEventListener("lostpointercapture", (event) => // the handle loses a finger to the list at the beginning
    event.target === list && isOwn(event) && finish(false));
  onKey(window, (event) => {
    if (!isActive() || event.key !== "Escape") return;
    event.stopImmediatePropagation();
    finish(false);
  }, { capture: true });
  return { begin, isActive };
}

/** Lets a finger swipe the rows of a list: to the right a task is done, or open again, and to the left it is deleted.
 * `hold` is called with a row, and the event with which the finger came, when the finger rests on the row. */
export function swiping(list, hold) {
  let swipe; // {pointer, row, x, y, distance, timer} while a finger is on a row
  const end = () => {
    const ended = swipe;
    swipe = undefined;
    clearTimeout(ended?.timer);
    ended?.row.classList.remove("swiped", "far");
    ended?.row.style.removeProperty("transform");
    return ended;
  };
  list.addEventListener("pointerdown", (event) => {
    const row = event.target.closest("li:not(.editing, .held)");
    if (event.pointerType !== "touch" || !event.isPrimary || !row) return;
    const timer = setTimeout(() => hold(end().row, event), HOLD);
    swipe = { pointer: event.pointerId, row, x: event.clientX, y: event.clientY, distance: 0, timer };
  });
  list.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
    if (pointerId !== swipe?.pointer) return;
    const distance = clientX - swipe.x;
    if (Math.hypot(distance, clientY - swipe.y) < SLOP && !swipe.distance) return;
    clearTimeout(swipe.timer);
    swipe.distance = distance;
    swipe.row.classList.add("swiped");
    swipe.row.classList.toggle("far", Math.abs(distance) >= FAR);
    swipe.row.style.transform = `translateX(${distance}px)`;
  });
  list.addEventListener("pointerup", () => {
    const { row, distance = 0 } = end() ?? {};
    if (Math.abs(distance) >= FAR) row.querySelector(distance > 0 ? ".check" : ".remove").click();
  });
  list.addEventListener("pointercancel", end);
  list.addEventListener("contextmenu", (event) => swipe && !event.target.closest("a") && event.preventDefault());
}

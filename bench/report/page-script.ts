/**
 * Shows a hint above each box that scrolls sideways, and opens what is folded before it is printed.
 *
 * Shows the value of a point of a picture: of the one under or nearest to the pointer or finger, and of the one that
 * has the keyboard's focus. A picture is one stop of the Tab key; arrows, Home and End go through its points, Escape
 * hides the value. Without the script, the browser shows the points' titles.
 */
export const pageScript: string = `
'use strict';
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) target.previousElementSibling.hidden = target.scrollWidth <= target.clientWidth;
});
for (const wide of document.querySelectorAll('.wide')) sizes.observe(wide);
const folds = [...document.querySelectorAll('details')];
addEventListener('beforeprint', () => {
  for (const fold of folds) {
    fold.dataset.open = fold.open;
    fold.open = true;
  }
});
addEventListener('afterprint', () => {
  for (const fold of folds) fold.open = fold.dataset.open === 'true';
});
const box = document.createElement('div');
box.id = 'value';
box.hidden = true;
box.setAttribute('aria-hidden', 'true');
document.body.append(box);
let shown;
function hide() {
  box.hidden = true;
  if (shown) shown.classList.remove('shown');
  shown = undefined;
}
function show(point) {
  if (shown === point) return;
  hide();
  shown = point;
  point.classList.add('shown');
  box.textContent = point.getAttribute('aria-label');
  box.hidden = false;
  place();
}
function place() {
  if (!shown) return;
  const at = shown.getBoundingClientRect();
  const left = at.left + at.width / 2 - box.offsetWidth / 2;
  const above = at.top - box.offsetHeight - 8;
  box.style.left = Math.max(8, Math.min(left, document.documentElement.clientWidth - box.offsetWidth - 8)) + 'px';
  box.style.top = (above < 8 ? at.bottom + 8 : above) + 'px';
}
function distance(point, x, y) {
  const at = point.getBoundingClientRect();
  return Math.hypot(Math.max(at.left - x, 0, x - at.right), Math.max(at.top - y, 0, y - at.bottom));
}
for (const svg of document.querySelectorAll('figure svg')) {
  const points = [...svg.querySelectorAll('[tabindex]')];
  if (points.length === 0) continue;
  for (const title of svg.querySelectorAll('title')) title.remove();
  const near = (event) => {
    let best, least = 24;
    for (const point of points) {
      const away = distance(point, event.clientX, event.clientY);
      if (away < least) [best, least] = [point, away];
    }
    if (best) show(best);
    else hide();
  };
  svg.addEventListener('pointermove', near);
  svg.addEventListener('pointerdown', near);
  svg.addEventListener('pointerleave', (event) => { if (event.pointerType !== 'touch') hide(); });
  // Not on the picture itself: Chromium takes an svg element that listens to focus for one that wants it.
  svg.parentElement.addEventListener('focusin', (event) => {
    for (const point of points) point.setAttribute('tabindex', point === event.target ? '0' : '-1');
    show(event.target);
  });
  svg.parentElement.addEventListener('focusout', hide);
  svg.addEventListener('keydown', (event) => {
    const at = points.indexOf(event.target);
    const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: points.length - 1 }[event.key];
    if (next === undefined || points[next] === undefined) return;
    event.preventDefault();
    points[next].focus();
  });
}
addEventListener('keydown', (event) => { if (event.key === 'Escape') hide(); });
addEventListener('pointerdown', (event) => { if (!event.target.closest('figure')) hide(); });
addEventListener('scroll', place, { passive: true });
addEventListener('resize', place);
`;

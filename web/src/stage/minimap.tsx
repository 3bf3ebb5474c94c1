// Overview of a picture that isn't all in sight; a click or a drag moves the picture.

import { useEffect, useState } from "preact/hooks";

import { t } from "../app/texts";
import type { Canvas } from "./canvas";
import { HEAD, WIDTH } from "./elements";

const WIDE = 168;
const HIGH = 112;

export function Minimap({ canvas }: { canvas: Canvas }) {
  const [, redraw] = useState(0);
  useEffect(() => {
    let frame = 0;
    const soon = (): void => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        redraw((many) => many + 1);
      });
    };
    canvas.cy.on("viewport add remove", soon);
    return () => {
      cancelAnimationFrame(frame);
      if (!canvas.cy.destroyed()) canvas.cy.off("viewport add remove", soon);
    };
  }, [canvas]);
  const boxes = canvas.cy.nodes(".box");
  if (boxes.empty()) return null;
  const all = boxes.boundingBox();
  const seen = canvas.cy.extent();
  const scale = Math.min((WIDE - 8) / Math.max(all.w, 1), (HIGH - 8) / Math.max(all.h, 1));
  const [left, top] = [all.x1 - (WIDE / scale - all.w) / 2, all.y1 - (HIGH / scale - all.h) / 2];
  // The focus stays in the picture, and with it its keys.
  const hold = (event: MouseEvent): void => event.preventDefault();
  const move = (event: PointerEvent): void => {
    if (event.buttons !== 1) return;
    const frame = (event.currentTarget as Element).getBoundingClientRect();
    canvas.centerOn(left + (event.clientX - frame.left) / scale, top + (event.clientY - frame.top) / scale);
  };
  const clamp = (value: number, most: number): number => Math.max(0, Math.min(most, value));
  const [x1, x2] = [clamp((seen.x1 - left) * scale, WIDE), clamp((seen.x2 - left) * scale, WIDE)];
  const [y1, y2] = [clamp((seen.y1 - top) * scale, HIGH), clamp((seen.y2 - top) * scale, HIGH)];
  return (
    <svg class="minimap" width={WIDE} height={HIGH} role="img" aria-label={t.minimap} onMouseDown={hold} onPointerDown={move} onPointerMove={move}>
      {boxes.map((node) => {
        const { x, y } = node.position();
        const height = (node.data("height") as number) || HEAD;
        return <rect class={node.hasClass("start") ? "start" : ""} x={(x - WIDTH / 2 - left) * scale} y={(y - height / 2 - top) * scale} width={Math.max(2, WIDTH * scale)} height={Math.max(2, height * scale)} />;
      })}
      <rect class="view" x={x1} y={y1} width={Math.max(4, x2 - x1)} height={Math.max(4, y2 - y1)} />
    </svg>
  );
}

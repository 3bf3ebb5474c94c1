// Texts of pictures.

import { count, number } from "../app/format";
import type { Box, Picture } from "../stage/picture";

const ends = (box: Box, picture: Picture): string => {
  const inputs = new Set(picture.arrows.filter(({ target, source }) => target === box.key && source !== box.key).map(({ source }) => source)).size;
  const outputs = new Set(picture.arrows.filter(({ target, source }) => source === box.key && target !== box.key).map(({ target }) => target)).size;
  return `${count(box.inputs ?? inputs, "input")}, ${count(box.outputs ?? outputs, "output")}`;
};

export const stage = {
  minimap: "Overview of the picture. Click to move there.",
  zoom: "Zoom",
  farther: "Zoom out (-)",
  nearer: "Zoom in (+)",
  fit: "Fit",
  fitKey: "Bring the picture into view at a readable size (0)",
  showAll: "Show all",
  asTable: "As a table",
  tooSmall: "The texts are too small to read: show the same answer as a table",
  showAllKey: "Bring all boxes into view, however small (9)",
  beyond: (some: number, all: number) => `${number(some)} of ${count(all, "box", "boxes")} out of sight`,
  stageKeys: "Arrow keys go from dataset to dataset. Press ? for all keys.",
  nothingMore: "Nothing more on this side.",
  chosenBox: (box: Box, picture: Picture) =>
    box.kind === "group" ? `${box.title}, group` : `${box.title}, ${(box.asset?.type ?? "dataset").toLowerCase()}, ${ends(box, picture)}`,
};

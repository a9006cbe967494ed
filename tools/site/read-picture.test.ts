import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readPicture } from "./read-picture.ts";

const read = (file: string) => readPicture(readFileSync(new URL(`../../docs/${file}`, import.meta.url)));

it("knows width and smallest text of each kind of picture", () => {
  expect(read("pictures/top.svg")).toEqual({ width: 868, text: 14 });
  expect(read("pictures/rollout-timeline.svg")).toEqual({ width: 760, text: 13 });
  expect(read("project/performance-cpu.svg")).toEqual({ width: 760, text: 13 });
  expect(read("pictures/dashboard-light.png").text).toBe(12.48);
  expect(read("pictures/dashboard-light.png").width).toBeGreaterThan(700);
});

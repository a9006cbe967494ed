import { readdir, readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { makePictures, type Pictures } from "./make-pictures.ts";
import { type Recording, recordingOf } from "./recording.ts";
import { screensOf, textOf } from "./screens.ts";
import { svgOf } from "./terminal-svg.ts";

const folder = new URL("../../docs/pictures/", import.meta.url);
const read = (name: string): Promise<string> => readFile(new URL(name, folder), "utf8");
const names = ["start", "describe", "why", "top"] as const;
const timelines = ["rollout-timeline", "drain-timeline"] as const;

/** A screen without what differs from run to run: generated names, ids, times, and where lines break. */
function stableText(text: string): string {
  const seen = new Map<string, string>();
  const letters = "[bcdfghjklmnpqrstvwxz2-9]{4,5}";
  return (
    text
      .replaceAll(new RegExp(`\\bexample-${letters}(-${letters})?\\b`, "g"), (name) => {
        const known = seen.get(name) ?? `example-${seen.size}`;
        seen.set(name, known);
        return known;
      })
      .replaceAll(/\bi-[0-9a-f]+/g, "i-0")
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME")
      .replaceAll(/\b\d\d:\d\d:\d\d\b/g, "TIME")
      .replaceAll(/\b(\d+[smh])+\b/g, "AGE")
      .replaceAll(/\b\d+ attempts?\b/g, "N attempts")
      .replaceAll(/[\s│├└─]+/g, " ")
      // An attempt that is due or under way has no next one, and then a line less.
      .replaceAll(/; the next (?:in AGE|now) at the earliest/g, "")
      .replaceAll(/\bscroll \d+\/\d+/g, "scroll")
  );
}

/** The last screen of each chapter. */
async function chaptersOf(recording: Recording): Promise<readonly (readonly [caption: string, text: string])[]> {
  const chapters = new Map<string, string>();
  for (const screen of await screensOf(recording)) chapters.set(screen.caption, stableText(textOf(screen)));
  return [...chapters];
}

/** The courses that the objects of a timeline take, each once. */
function coursesOf(svg: string): readonly string[] {
  const courses = new Map<string, string>();
  for (const [, name = "", label = ""] of svg.matchAll(/<title>([^<:]+): ([^<]+)<\/title>/g))
    courses.set(name, `${courses.get(name) ?? ""} > ${label}`);
  return [...new Set(courses.values())].toSorted();
}

describe("the pictures of docs/pictures (npm run pictures makes them again)", () => {
  let today: Pictures;
  beforeAll(async () => {
    today = await makePictures();
  });

  it.each(names)("%s.cast has what the command prints today", async (name) => {
    const recording = today.recordings.find((each) => each.name === name);
    const chapters = await chaptersOf(recordingOf(name, await read(`${name}.cast`)));
    expect(chapters.every(([, text]) => text.length > 100)).toBe(true);
    expect(await chaptersOf(recording ?? { name, title: "", columns: 1, rows: 1, events: [] })).toEqual(chapters);
  });

  it.each(timelines)("%s.svg has the courses that machines and Pods take today", async (name) => {
    const courses = coursesOf(await read(`${name}.svg`));
    expect(courses.join()).toContain("Drain");
    expect(coursesOf(today.timelines.find((each) => each.name === name)?.svg ?? "")).toEqual(courses);
  });

  it.each(names)("%s.svg is drawn from its recording", async (name) => {
    expect(await svgOf(recordingOf(name, await read(`${name}.cast`)))).toBe(await read(`${name}.svg`));
  });

  it("are all there is", async () => {
    const files = [
      ...names.flatMap((name) => [`${name}.cast`, `${name}.svg`]),
      ...timelines.map((name) => `${name}.svg`),
    ];
    const dashboard = ["dashboard-dark.png", "dashboard-labels.txt", "dashboard-light.png"];
    expect((await readdir(folder)).toSorted()).toEqual([...files, ...dashboard].toSorted());
  });
});

import { createVirtualClock } from "@millwright/core/testing";
import { Gauge, Registry } from "prom-client";
import { expect, it } from "vitest";
import { joinPieces, readRegistry, textOfParts } from "./metric-parts.ts";

const clock = createVirtualClock();
const line = (at: number): string => `series{name="é${at}"} ${at}\n`;
const lines = Array.from({ length: 20_000 }, (_, at) => line(at));

it("joins pieces to parts of whole lines that are passed on soon", async () => {
  const parts: string[] = [];
  for await (const part of joinPieces(lines, { clock })) parts.push(part);
  expect(parts.join("")).toBe(lines.join(""));
  expect(parts.length).toBeGreaterThan(5);
  for (const part of parts) expect([part.endsWith("\n"), part.length < 70_000]).toEqual([true, true]);
});

it("reads a registry metric by metric, and lets the event loop run in between when that takes long", async () => {
  const registry = new Registry();
  let ms = 0;
  const gauge = (name: string): Gauge =>
    new Gauge({ name, help: "Help.", registers: [registry], collect: () => void (ms += 10) });
  gauge("a").set(1);
  gauge("b").set(2);
  let turns = 0;
  setImmediate(() => (turns += 1));
  const text = await textOfParts(readRegistry(registry, { clock: { ...clock, monotonicMs: () => ms } }));
  expect(text).toBe("# HELP a Help.\n# TYPE a gauge\na 1\n# HELP b Help.\n# TYPE b gauge\nb 2\n");
  expect(turns).toBe(1);
});

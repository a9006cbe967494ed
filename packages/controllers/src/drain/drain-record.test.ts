import { describe, expect, it } from "vitest";
import { aMove } from "../testing/drain-views.ts";
import { drainRecordPatch, readDrainRecord } from "./drain-record.ts";

const annotation = "machine.millwright.dev/drain-state";
const metadata = (text: string) => ({ name: "machine", annotations: { [annotation]: text } });
const storedText = (patch: object): unknown => JSON.parse(JSON.stringify(patch));

describe("the record of a drain", () => {
  it("is read as it was stored", () => {
    const moves = [aMove("a"), aMove("b", { detachedAt: "2026-01-01T00:00:00.000Z" })];
    const clock = { startedAt: "2026-01-01T00:00:00Z", countedUntil: "2026-01-01T00:05:00Z", countedMs: 300_000 };
    for (const record of [{ moves }, { moves: [], clock }, { moves, clock }]) {
      const patch = { metadata: { annotations: { [annotation]: JSON.stringify(record) } } };
      expect(drainRecordPatch(record)).toEqual(patch);
      expect(readDrainRecord(metadata(JSON.stringify(record)))).toEqual(record);
    }
  });

  it("is removed when it is empty", () => {
    expect(storedText(drainRecordPatch({ moves: [] }))).toEqual({ metadata: { annotations: { [annotation]: null } } });
  });

  it.each([
    ["no annotation", { name: "machine" }],
    ["text that is no JSON", metadata("[")],
    ["something else", metadata('{"other":[]}')],
    ["entries that are none", metadata('{"moves":[null, 7, "x", {}]}')],
    ["an odd time", metadata(JSON.stringify({ moves: [{ ...aMove("a"), evictedAt: "soon" }] }))],
    ["an odd later time", metadata(JSON.stringify({ moves: [{ ...aMove("a"), detachedAt: 5 }] }))],
    ["an odd volume", metadata(JSON.stringify({ moves: [{ ...aMove("a"), volumes: [{ name: "pv" }] }] }))],
    ["a list", metadata("[]")],
    ["no object", metadata("null")],
    ["a clock without a time", metadata('{"clock":{"startedAt":"2026-01-01T00:00:00Z","countedMs":1}}')],
    [
      "an odd volume id",
      metadata(JSON.stringify({ moves: [{ ...aMove("a"), volumes: [{ name: "pv", claim: "c", volumeId: 3 }] }] })),
    ],
  ])("reads nothing from %s", (_, object) => {
    expect(readDrainRecord(object)).toEqual({ moves: [] });
  });
});

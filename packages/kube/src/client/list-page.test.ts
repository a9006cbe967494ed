import { systemClock } from "@millwright/base";
import { expect, test } from "vitest";
import { readListPage } from "./list-page.ts";

const read = (text: string, omitManagedFields = true) =>
  readListPage(Buffer.from(text), { clock: systemClock, omitManagedFields });

test("reads items and metadata wherever they are, and leaves out managed fields only when asked to", async () => {
  const item = { metadata: { name: "a", managedFields: [{ manager: "x" }], uid: "u" } };
  const text = JSON.stringify({ items: [item, item], kind: "List", metadata: { resourceVersion: "5", continue: "c" } });
  const trimmed = { metadata: { name: "a", uid: "u" } };
  expect(await read(text)).toEqual({
    items: [trimmed, trimmed],
    metadata: { resourceVersion: "5", continue: "c" },
  });
  expect((await read(text, false))?.items).toEqual([item, item]);
});

test.each([
  ["null, as Go writes an empty list", '{"items":null,"metadata":{}}'],
  ["nothing", '{"items":[],"metadata":{}}'],
  ["named twice: the last one counts", '{"items":[{"metadata":{}}],"items":[]}'],
])("takes items for an empty list that are %s", async (_, text) => {
  expect((await read(text))?.items).toEqual([]);
});

test.each(["[]", "1", '{"items":{}}', '{"kind":"Status"}'])("takes %s for no list", async (text) => {
  expect(await read(text)).toBeUndefined();
});

test.each(["", "{", '{"items":[{"a":1}', '{"items":[{"a":]}]}', '{"items":[1 2]}'])(
  "refuses what is not JSON: %s",
  async (text) => {
    await expect(read(text)).rejects.toThrow(SyntaxError);
  },
);

test("gives the event loop its turn within a list of many megabytes", async () => {
  const item = {
    metadata: { name: "a" },
    spec: { text: "x".repeat(5_000), list: Array.from({ length: 200 }, () => 1) },
  };
  const text = JSON.stringify({ items: Array.from({ length: 4_000 }, () => item), metadata: {} });
  const bytes = Buffer.from(text);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await readListPage(bytes, { clock: systemClock, omitManagedFields: true });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
});

import { expect, it, test } from "vitest";
import { readFoundVm } from "./check-reply.ts";

const found = { providerId: "mock:///eu-1/i-1", isInitialized: true };

test.each<[string, object, object]>([
  ["an empty node name", { nodeName: "" }, { nodeName: "" }],
  ["no node name", {}, { nodeName: "" }],
  ["a node name that is no text", { nodeName: 7 }, { nodeName: "" }],
  ["a huge node name", { nodeName: "n".repeat(1_000_000) }, { nodeName: "" }],
  ["addresses that are no list", { nodeName: "n", addresses: "10.0.0.1" }, { nodeName: "n" }],
  ["addresses of another form", { nodeName: "n", addresses: [7] }, { nodeName: "n" }],
  ["a huge address", { nodeName: "n", addresses: [{ type: "A", address: "1".repeat(1_000_000) }] }, { nodeName: "n" }],
])("a VM that is looked up is found in spite of %s", (_, reply, expected) => {
  expect(readFoundVm({ providerId: found.providerId, ...reply })).toEqual({ ...found, ...expected });
});

it("cannot be read without an id, and may be uninitialized", () => {
  for (const reply of [undefined, {}, { providerId: "" }, { providerId: 7 }])
    expect(readFoundVm(reply)).toEqual({
      unreadable: expect.stringContaining("getMachineStatus"),
      isInitialized: false,
    });
});

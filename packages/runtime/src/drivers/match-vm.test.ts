import type { NodeIdentity, NodeMatch, VmIdentity } from "@millwright/core";
import { expect, it } from "vitest";
import { aDriver } from "../testing/fake-driver.ts";
import { createMatchVm } from "./match-vm.ts";

const vm: VmIdentity = { machineName: "m", providerId: "mock:///a/i-1", nodeName: "n", addresses: [] };
const node: NodeIdentity = { name: "n", providerId: "mock:///b/i-1", systemUuid: "", addresses: [] };

function matchWith(matchNode?: (vm: VmIdentity, node: NodeIdentity) => NodeMatch) {
  const log: string[] = [];
  const match = createMatchVm([aDriver(matchNode === undefined ? {} : { matchNode })], (level, message, fields) =>
    log.push(`${level} ${message}: ${String(fields?.["error"])}`),
  );
  return { match, log };
}

it("compares by scheme and last segment for a driver without matchNode, and for a class without a driver", () => {
  const { match } = matchWith();
  expect([match("mock", vm, node), match("other", vm, node), match(undefined, vm, node)]).toEqual([
    "same",
    "same",
    "same",
  ]);
});

it("does not know whether another id is that of the VM while the driver is not there, so that the name decides", () => {
  const { match } = matchWith();
  const other = { ...node, providerId: "mock:///a/i-2" };
  expect([match("mock", vm, other), match("other", vm, other)]).toEqual(["different", "unknown"]);
});

it("returns what the driver of the provider answers, whatever its case", () => {
  const { match } = matchWith(() => "different");
  expect([match("Mock", vm, node), match("other", vm, node)]).toEqual(["different", "same"]);
});

it("treats a driver that throws, or breaks the contract, as one that cannot match, and logs it once", () => {
  const thrown = matchWith(() => {
    throw new Error("bad id");
  });
  expect([thrown.match("mock", vm, node), thrown.match("mock", vm, node)]).toEqual(["unknown", "unknown"]);
  expect(thrown.log).toEqual(["error matchNode of a driver failed: bad id"]);
  // A driver in plain JavaScript may return anything.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const broken = matchWith((() => Promise.resolve("same")) as unknown as () => NodeMatch);
  expect(broken.match("mock", vm, node)).toBe("unknown");
  expect(broken.log[0]).toContain("returned object");
});

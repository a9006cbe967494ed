import { labelKeys, type Machine } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { nodesOfMachines } from "./driver-nodes.ts";

const machine = (name: string, providerID: string, node: string): Machine => ({
  metadata: { name, ...(node === "" ? {} : { labels: { [labelKeys.node]: node } }) },
  spec: providerID === "" ? {} : { providerID },
});

it("machines of other drivers have a node as soon as they have a VM", () => {
  const machines = [
    machine("simulated", "mock:///local/i-1", "simulated"),
    machine("own", "own:///vm-1", "node-1"),
    machine("creating", "", ""),
    machine("nameless", "own:///vm-2", ""),
  ];
  expect(nodesOfMachines(machines)).toEqual([{ nodeName: "node-1", providerId: "own:///vm-1" }]);
});

import { matchNodeByTemplates, type NodeMatch } from "@millwright/core";
import { expect, it } from "vitest";
import { createAzureDriver } from "./driver.ts";

const { matchNode, providerIdTemplates = [] } = createAzureDriver();
const group = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shoot";
const idOf = (name: string, place = group): string =>
  `azure://${place}/providers/Microsoft.Compute/virtualMachines/${name}`;

it.each<[string, string, string, NodeMatch]>([
  ["the resource id of the VM", "azure:///westeurope/m", idOf("m"), "same"],
  [
    "the resource id in other letters",
    "azure:///westeurope/m",
    idOf("m").toUpperCase().replace("AZURE", "azure"),
    "same",
  ],
  ["a location in other letters", "azure:///West Europe/M", idOf("m"), "same"],
  ["an id as machines have it", "azure:///westeurope/m", "azure:///westeurope/m", "same"],
  ["the id of another VM", "azure:///westeurope/m", idOf("m-2"), "different"],
  ["a VM whose name ends with that of the VM", "azure:///westeurope/m", idOf("a-m"), "different"],
  [
    "an instance of a uniform scale set",
    "azure:///westeurope/0",
    `azure://${group}/providers/Microsoft.Compute/virtualMachineScaleSets/m/virtualMachines/0`,
    "different",
  ],
  [
    "an instance of a uniform scale set before an id is stored",
    "",
    `azure://${group}/providers/microsoft.compute/virtualmachinescalesets/m/virtualmachines/m`,
    "different",
  ],
  ["no id", "azure:///westeurope/m", "", "unknown"],
  ["the id of another cloud", "azure:///westeurope/m", "aws:///eu-west-1/m", "unknown"],
  [
    "another resource of Azure",
    "azure:///westeurope/m",
    `azure://${group}/providers/Microsoft.HybridCompute/machines/m`,
    "unknown",
  ],
  ["a VM of the machine's name before an id is stored", "", idOf("m"), "unknown"],
  ["another VM before an id is stored", "", idOf("other"), "different"],
  ["the VM of a machine with an id of another form", "azure:///westeurope/a/m", idOf("m"), "unknown"],
])("a Node with %s: %j and %j", (_, machine, node, expected) => {
  const vm = { machineName: "m", providerId: machine, nodeName: "", addresses: [] };
  expect(matchNode?.(vm, { name: "n", providerId: node, systemUuid: "", addresses: [] })).toBe(expected);
});

it.each<[string, string, string, NodeMatch]>([
  ["the resource id of the VM", "azure:///westeurope/m", idOf("M"), "same"],
  ["the id of another VM", "azure:///westeurope/m", idOf("m-2"), "different"],
  [
    "an instance of a uniform scale set",
    "azure:///westeurope/0",
    `azure://${group}/providers/Microsoft.Compute/virtualMachineScaleSets/m/virtualMachines/0`,
    "unknown",
  ],
  ["no id", "azure:///westeurope/m", "", "unknown"],
])("a Node with %s, by the templates for a driver in another process: %j and %j", (_, machine, node, expected) => {
  expect(matchNodeByTemplates(providerIdTemplates)({ providerId: machine }, { providerId: node })).toBe(expected);
});

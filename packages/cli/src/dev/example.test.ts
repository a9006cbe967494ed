import { readProviderSpec } from "@millwright/core";
import {
  type MachineClass,
  readMachineClass,
  readMachineDeployment,
  validateMachineClass,
  validateMachineDeployment,
} from "@millwright/core/machine-api";
import { createMockDriver } from "@millwright/provider-mock";
import { describe, expect, it } from "vitest";
import { exampleObjects } from "./example.ts";

describe("the example", () => {
  const objects = exampleObjects("http://127.0.0.1:7070").map(({ object }): unknown => object);
  const ofKind = (kind: string): readonly unknown[] =>
    objects.filter((object) => Reflect.get(Object(object), "kind") === kind);

  it("has a deployment that validation accepts", () => {
    const [read] = ofKind("MachineDeployment").map(readMachineDeployment);
    expect(read?.ok === true && validateMachineDeployment(read.value)).toEqual([]);
  });

  it("has classes that validation and the driver accept", async () => {
    const reads = ofKind("MachineClass").map(readMachineClass);
    expect(reads).toHaveLength(2);
    for (const read of reads) {
      const machineClass: MachineClass | undefined = read.ok ? read.value : undefined;
      expect(machineClass && validateMachineClass(machineClass)).toEqual([]);
      expect(await readProviderSpec(createMockDriver(), machineClass ?? {})).toMatchObject({ ok: true });
    }
  });
});

import { annotationKeys, type Machine } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { identityOf } from "./read-class.ts";

const machine = (providerID: string | undefined, annotations?: Readonly<Record<string, string>>): Machine => ({
  metadata: { name: "m", uid: "own", ...(annotations === undefined ? {} : { annotations }) },
  spec: providerID === undefined ? {} : { providerID },
});
const former = { [annotationKeys.vmOwner]: "former" };

describe("the machine that a driver is asked about", () => {
  it("has the UID of the one for which its VM was made, where its definition took that along", () => {
    expect(identityOf(machine("vm-1", former))).toMatchObject({ uid: "former", providerId: "vm-1" });
    expect(identityOf(machine("vm-1"))).toMatchObject({ uid: "own" });
  });

  it.each([undefined, ""])("has its own UID while it has no VM (provider id %j)", (id) => {
    expect(identityOf(machine(id, former)).uid).toBe("own");
  });
});

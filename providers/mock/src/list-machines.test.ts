import { describe, expect, it } from "vitest";
import { aCloud, aMachine, aSpec, aVm, codeOf, places } from "./testing/mock-cloud.ts";

const a = aMachine("pool-a-1");

describe.each(places)("listing machines, %s", (place) => {
  it("has the VMs of this cluster and none of another or untagged", async () => {
    const { cloud, create, list } = await aCloud(place);
    const namesIn = async (cluster: string) => (await list(cluster))?.machines.map(({ machineName }) => machineName);
    await create(a);
    await create(aMachine("b"), aSpec({ cluster: "other" }));
    await cloud.createVm(aVm("pet"));
    await expect(namesIn("default")).resolves.toEqual(["pool-a-1"]);
    await expect(namesIn("other")).resolves.toEqual(["b"]);
    await expect(namesIn("none")).resolves.toEqual([]);
  });

  it("fails rather than give a list that is cut short", async () => {
    const { cloud, list } = await aCloud(place);
    await cloud.addFault({ operation: "list", code: "Internal", afterAcceptance: true });
    await expect(codeOf(list("default"))).resolves.toBe("Internal");
  });
});

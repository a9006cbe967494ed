import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startGceLoop, startOnGce } from "./gce-cloud.ts";
import { describeMachineLoop } from "./machine-loop-scenario.ts";

describeMachineLoop("Compute Engine", startGceLoop);

it("uses another zone when capacity is exhausted, and finds its machines there", async () => {
  const { gce, installation, close } = await startOnGce({}, { fallbacks: [{ zone: "europe-west1-c" }] });
  onTestFinished(close);
  gce.world.capacity.set("n2-standard-2/europe-west1-b", 2);
  installation.run();
  await installation.deploy(5);
  await installation.untilRunning(5);
  const zones = gce.inventory().instances.map(({ zone }) => zone);
  expect(zones.toSorted()).toEqual(["b", "b", "c", "c", "c"].map((zone) => `europe-west1-${zone}`));
  await installation.remove();
  await installation.untilGone();
  await eventually(async () => expect(Object.values(gce.inventory()).flat()).toEqual([]));
});

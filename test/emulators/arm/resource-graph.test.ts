import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { anArm, send, subscription } from "./testing/sdk-clients.ts";

describe("Resource Graph", () => {
  /** The query that MCM's driver sends. */
  const query = `Resources
    | where type =~ 'microsoft.compute/virtualMachines' or type =~ 'microsoft.network/networkinterfaces'
    | where resourceGroup =~ 'shoot'
    | extend tagKeys = bag_keys(tags)
    | where tagKeys has 'kubernetes.io-cluster-shoot'
    | project type, name`;

  const ask = (url: string, ca: string, body: object) =>
    send(ca, "POST", `${url}/providers/Microsoft.ResourceGraph/resources?api-version=2024-04-01`, body);

  it("finds by terms of tag keys, page by page, with a delay", async () => {
    const clock = createVirtualClock();
    const { emulator, url, putVm } = await anArm({ clock, graphLagMs: 1_000, pageSize: 1 });
    await putVm("m");
    await putVm("n", { tags: { "kubernetes.io-cluster-shoot-2": "1" } });
    const rows = async (skip = "0") =>
      (await ask(url, emulator.ca, { subscriptions: [subscription], query, options: { $skipToken: skip } })).body;
    expect(await rows()).toMatchObject({ totalRecords: 0, data: [] });
    await clock.advance(1_000);
    // `has` matches whole terms: the other cluster is found, too.
    expect(await rows()).toMatchObject({
      totalRecords: 2,
      data: [{ name: "m" }],
      $skipToken: "1",
      resultTruncated: "false",
    });
    expect(await rows("1")).toMatchObject({ data: [{ name: "n" }] });
    expect(await ask(url, emulator.ca, { subscriptions: [subscription], query: "Resources" })).toMatchObject({
      status: 400,
    });
  });
});

import { describe, expect, it } from "vitest";
import type { Pod, VolumeAttachment } from "../model/node-objects.ts";
import { aNode } from "../testing/builders.ts";
import { aClaim, anAttachment, aPod, aPodWithVolume, aVolume } from "../testing/drain-objects.ts";
import { createAttachments, type VolumeLookup, volumesOf } from "./volume-accounting.ts";

const claims = [
  aClaim("data-db", "pv-db"),
  aClaim("unbound"),
  aClaim("lost", "pv-lost"),
  aClaim("db-tmp", "pv-tmp"),
  aClaim("share", "pv-nfs"),
  aClaim("again", "pv-db"),
];
const volumes = [
  aVolume("pv-db"),
  aVolume("pv-tmp"),
  { metadata: { name: "pv-nfs" } },
  { metadata: { name: "pv-old" } },
];

const lookup = (ids: Readonly<Record<string, string | null>> = {}): VolumeLookup => ({
  claim: (namespace, name) =>
    claims.find((each) => each.metadata.namespace === namespace && each.metadata.name === name),
  volume: (name) => volumes.find((each) => each.metadata.name === name),
  volumeId: (name) => ids[name],
});

const withClaims = (...names: readonly string[]): Pod =>
  aPod("db", {
    spec: { volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) },
  });

describe("volumesOf", () => {
  it.each([
    ["a pod without volumes", aPod()],
    ["a claim that does not exist", withClaims("missing")],
    ["a claim that is not bound", withClaims("unbound")],
    ["a volume that does not exist", withClaims("lost")],
  ])("tracks nothing for %s", (_, pod) => {
    expect(volumesOf(pod, lookup())).toEqual([]);
  });

  it("pairs each volume with the driver's id for it", () => {
    expect(volumesOf(aPodWithVolume("db"), lookup({ "pv-db": "disk-7" }))).toEqual([
      { name: "pv-db", claim: "default/data-db", volumeId: "disk-7" },
    ]);
  });

  it("uses the CSI handle when the driver's id is unknown", () => {
    expect(volumesOf(aPodWithVolume("db"), lookup())).toMatchObject([{ name: "pv-db", volumeId: "vol-pv-db" }]);
  });

  it("leaves out a volume that the driver does not know, without shifting the others", () => {
    const pod = withClaims("share", "data-db");
    expect(volumesOf(pod, lookup({ "pv-nfs": null, "pv-db": "disk-7" }))).toMatchObject([
      { name: "pv-db", volumeId: "disk-7" },
    ]);
  });

  it("tracks a volume without id by its name", () => {
    expect(volumesOf(withClaims("share"), lookup())).toEqual([{ name: "pv-nfs", claim: "default/share" }]);
  });

  it("counts a volume once that two claims lead to", () => {
    expect(volumesOf(withClaims("data-db", "again"), lookup()).map(({ name }) => name)).toEqual(["pv-db"]);
  });

  it("finds the claim of a generic ephemeral volume", () => {
    const pod = aPod("db", { spec: { volumes: [{ name: "tmp", ephemeral: {} }] } });
    expect(volumesOf(pod, lookup())).toMatchObject([{ name: "pv-tmp", claim: "default/db-tmp" }]);
  });
});

describe("createAttachments", () => {
  const volume = { name: "pv-db", claim: "default/data-db", volumeId: "vol-1" };
  const look = (attached: readonly string[], ...attachments: readonly VolumeAttachment[]) => {
    const node = aNode({ status: { volumesAttached: attached.map((name) => ({ name })) } });
    const of = (name: string) => attachments.filter(({ spec }) => spec?.source?.persistentVolumeName === name);
    const { isAttachedHere, isAttachedElsewhere } = createAttachments([node], of);
    return { here: isAttachedHere(volume), elsewhere: isAttachedElsewhere(volume) };
  };

  it("sees what the node reports, by the whole id", () => {
    expect(look(["kubernetes.io/csi/ebs.csi.aws.com^vol-1"]).here).toBe(true);
    expect(look(["kubernetes.io/csi/ebs.csi.aws.com^vol-12"]).here).toBe(false);
    expect(look(["kubernetes.io/aws-ebs/aws://eu-west-1a/vol-1"]).here).toBe(true);
    expect(look(["vol-1"]).here).toBe(true);
    expect(look([]).here).toBe(false);
  });

  it("keeps an id with slashes, carets and pattern characters whole", () => {
    const handle = "projects/p/zones/z/disks/pv^(1";
    const node = aNode({ status: { volumesAttached: [{ name: `kubernetes.io/csi/pd.csi^${handle}` }] } });
    expect(createAttachments([node], () => []).isAttachedHere({ ...volume, volumeId: handle })).toBe(true);
  });

  it("sees an attachment that is being created or deleted", () => {
    expect(look([], anAttachment("pv-db", "node", false)).here).toBe(true);
    expect(look([], anAttachment("pv-other", "node")).here).toBe(false);
  });

  it("sees a volume elsewhere only when it is attached there", () => {
    expect(look([], anAttachment("pv-db", "other"))).toEqual({ here: false, elsewhere: true });
    expect(look([], anAttachment("pv-db", "other", false))).toEqual({ here: false, elsewhere: false });
    expect(look([], anAttachment("pv-db", "node"))).toEqual({ here: true, elsewhere: false });
  });

  it("uses the attachment when the id is unknown", () => {
    const node = aNode({ status: { volumesAttached: [{ name: "" }] } });
    const unknown = { name: "pv-db", claim: "default/data-db" };
    expect(createAttachments([node], () => []).isAttachedHere(unknown)).toBe(false);
  });
});

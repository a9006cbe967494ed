import * as z from "zod";
import { expectedKinds, kindWith } from "../request/read-body.ts";

/** Names of what a fault affects. Default: all. */
const names = z.array(z.string()).min(1).readonly().exactOptional();
const everyMs = z.number().min(50).max(3_600_000);
const ofNodes = { nodes: names };
/** By name of the PersistentVolume, and by the node that it is (or should be) attached to. */
const ofVolumes = { ...ofNodes, volumes: names };
/** Those that match all the fields that are given. */
const ofPods = { namespaces: names, names, labels: z.record(z.string(), z.string()).readonly().exactOptional() };

const kinds = [
  /** The kubelet stops: no heartbeats, and pods neither start nor end. The node becomes Unknown when its lease has expired. */
  kindWith("kubelet-stops", ofNodes),
  /** The machine runs, but its kubelet never registers. Nodes that have joined stay. */
  kindWith("never-joins", ofNodes),
  /** The kubelet reports that it is not ready. */
  kindWith("not-ready", ofNodes),
  /** The node alternates between ready and not ready, `everyMs` each. */
  kindWith("node-flaps", { ...ofNodes, everyMs }),
  /** The node has one more condition, as from a node problem detector. It becomes False when the fault is removed. */
  kindWith("node-condition", {
    ...ofNodes,
    type: z.string().regex(/^(?!(?:Ready)?$)/, "expected the type of a condition other than Ready"),
    status: z.enum(["True", "False", "Unknown"]).default("True"),
    reason: z.string().exactOptional(),
    message: z.string().exactOptional(),
  }),
  /** Nothing is deleted or orphaned with its owner. It is made up for when the fault is removed. */
  kindWith("garbage-collector-stops", {}),
  /** Volumes are never detached from their node. */
  kindWith("never-detaches", ofVolumes),
  /** Volumes are never attached to their node. */
  kindWith("never-attaches", ofVolumes),
  /** Pods that are being deleted never end, whatever their grace period. */
  kindWith("pod-never-ends", ofPods),
  /** Pods never start. */
  kindWith("pod-never-starts", ofPods),
  /** Pods run and are not ready. */
  kindWith("pod-not-ready", ofPods),
  /** Pods alternate between ready and not ready, `everyMs` each. */
  kindWith("pod-flaps", { ...ofPods, everyMs }),
] as const;

/** The body of a request that adds a {@link ClusterFault}. */
export const clusterFaultBody = z.discriminatedUnion("kind", kinds, expectedKinds(kinds));

/** A fault of nodes, pods, volumes or the garbage collector. It lasts until it is removed. Faults of API requests are in `faults/`. */
export type ClusterFault = Readonly<z.infer<(typeof kinds)[number]>>;

import type { KubeObject } from "@millwright/kube";
import type { BackupKind } from "./backup-kinds.ts";

/** The objects that a namespace has already. Of Secrets only those of the backup. */
export interface ExistingFleet {
  readonly secrets: readonly KubeObject[];
  readonly classes: readonly KubeObject[];
  readonly sets: readonly KubeObject[];
  readonly machines: readonly KubeObject[];
  readonly deployments: readonly KubeObject[];
}

/**
 * What is done with an object: `create` it; `replace` one whose deletion was requested and has not begun; `own`: give one its owner, in place of one that does not exist;
 * `scale` a deployment to the machines that it gets; `keep` it as it is; `skip`: leave it out.
 */
export type RestoreAction = "create" | "replace" | "own" | "scale" | "keep" | "skip";

/** What is done with one object. */
export interface RestoreStep {
  readonly kind: BackupKind;
  /** Of a set that is replaced: the name of the new one. */
  readonly name: string;
  readonly action: RestoreAction;
  /** As it is created. */
  readonly object: KubeObject;
  /** The one that exists. */
  readonly current?: KubeObject;
  /** Name of the owner: of a Machine its set, of a set its deployment, if that exists already. */
  readonly owner?: string;
  /** Of a set: how many machines it waits for, so that it creates none in their place. */
  readonly expected?: number;
  /** Of a deployment that is scaled: its new size. */
  readonly replicas?: number;
  /** Of the same: sizes of its sets that exist and would have more machines than they want, by name. */
  readonly sets?: ReadonlyMap<string, number>;
  /** Why it is skipped or scaled, or how the one that exists differs. */
  readonly because?: string;
}

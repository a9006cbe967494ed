import type { NodeCondition, ObjectMeta, Taint } from "@millwright/core";

/** A Node as far as the controllers read it. */
export interface Node {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[];
  };
  readonly status?: {
    readonly conditions?: readonly NodeCondition[];
  };
}

/** A Pod as far as a drain reads it. */
export interface Pod {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

/** A VolumeAttachment as far as a deletion reads it. */
export interface VolumeAttachment {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly nodeName?: string };
}

/** A Secret; its values are base64 text and leave this shape only as `Secret` values that do not print. */
export interface SecretObject {
  readonly metadata: ObjectMeta;
  readonly data?: Readonly<Record<string, string>>;
}

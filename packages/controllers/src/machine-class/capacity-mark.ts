import { annotationKeys, type MachineClass, type NodeTemplate } from "@millwright/core";
import { stableHash } from "@millwright/core/driver-kit";

/** What a class says about the `nodeTemplate` that was filled in. */
export interface CapacityMark {
  /** Hash of what the driver was asked about. */
  readonly asked: string;
  /** Hash of the template that was written. */
  readonly template: string;
}

const hashOf = (value: unknown): string => stableHash(value).slice(0, 16);

/** What the capacity of a class follows from, as a hash: everything that the driver reads of it. */
export const capacityVersionOf = ({ provider = "", providerSpec }: MachineClass): string =>
  hashOf([provider.toLowerCase(), providerSpec]);

/** The mark of a template that was made of an answer, as an annotation holds it. */
export const markFor = (asked: string, nodeTemplate: NodeTemplate): string =>
  JSON.stringify({ asked, template: hashOf(nodeTemplate) } satisfies CapacityMark);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The mark of a class; `undefined` for one without, or with one that cannot be read. */
export function readMark({ metadata }: MachineClass): CapacityMark | undefined {
  const mark = parse(metadata.annotations?.[annotationKeys.filledNodeTemplate] ?? "");
  if (typeof mark !== "object" || mark === null) return undefined;
  const { asked, template }: { readonly asked?: unknown; readonly template?: unknown } = mark;
  return typeof asked === "string" && typeof template === "string" ? { asked, template } : undefined;
}

/** Whether the `nodeTemplate` of a class is the one of a mark, unchanged. */
export const isOfMark = (nodeTemplate: NodeTemplate, mark: CapacityMark | undefined): boolean =>
  mark?.template === hashOf(nodeTemplate);

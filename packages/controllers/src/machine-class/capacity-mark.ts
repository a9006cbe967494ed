import { annotationKeys, type MachineClass, type NodeTemplate } from "@millwright/core/machine-api";
import { stableHash } from "@millwright/core/driver-kit";

/** Records how the `nodeTemplate` of a class was set. */
export interface CapacityMark {
  /** Hash of the spec that the driver got. */
  readonly spec: string;
  /** Hash of the template that was written. */
  readonly template: string;
}

const hashOf = (value: unknown): string => stableHash(value).slice(0, 16);

/** The version of the inputs of a class's capacity: a hash of everything that the driver reads. */
export const capacityVersionOf = ({ provider = "", providerSpec }: MachineClass): string =>
  hashOf([provider.toLowerCase(), providerSpec]);

/** The mark of a template, as it is stored in an annotation. */
export const markFor = (spec: string, nodeTemplate: NodeTemplate): string =>
  JSON.stringify({ spec, template: hashOf(nodeTemplate) } satisfies CapacityMark);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The mark of a class; `undefined` when it is missing or invalid. */
export function readMark({ metadata }: MachineClass): CapacityMark | undefined {
  const mark = parse(metadata.annotations?.[annotationKeys.filledNodeTemplate] ?? "");
  if (typeof mark !== "object" || mark === null) return undefined;
  const { spec, template }: { readonly spec?: unknown; readonly template?: unknown } = mark;
  return typeof spec === "string" && typeof template === "string" ? { spec, template } : undefined;
}

/** Whether the `nodeTemplate` of a class is unchanged since the mark. */
export const matchesMark = (nodeTemplate: NodeTemplate, mark: CapacityMark | undefined): boolean =>
  mark?.template === hashOf(nodeTemplate);

import { annotationKeys } from "../../wire/annotations.ts";
import type { MachineDeployment } from "./machine-deployment.ts";

/** Between which sizes a cluster autoscaler may scale a deployment. */
export interface SizeLimits {
  readonly min: number;
  readonly max: number;
}

const wholeNumber = /^\d{1,9}$/;

/** What a deployment declares: limits; `undefined`, it is not scaled; or why its annotations cannot be used. */
export function readSizeLimits({ metadata: { annotations = {} } }: MachineDeployment): SizeLimits | string | undefined {
  const max = annotations[annotationKeys.autoscalerMaxSize];
  const min = annotations[annotationKeys.autoscalerMinSize] ?? "0";
  if (max === undefined) return undefined;
  if (!wholeNumber.test(max)) return `annotation ${annotationKeys.autoscalerMaxSize} must be a whole number`;
  if (!wholeNumber.test(min)) return `annotation ${annotationKeys.autoscalerMinSize} must be a whole number`;
  if (Number(min) > Number(max))
    return `annotation ${annotationKeys.autoscalerMinSize} must not be greater than ${annotationKeys.autoscalerMaxSize}`;
  return { min: Number(min), max: Number(max) };
}

import { type ControllerName, leasesOf } from "@millwright/core/command-line";

/** Whether a selected controller calls drivers: those of machines do, those of sets and deployments do not. */
export const needsDriver = ({ controllers }: { readonly controllers: readonly ControllerName[] }): boolean =>
  leasesOf(controllers).includes("machine-controller");

/** API group of the four kinds, shared with Gardener's Machine Controller Manager. */
export const machineGroup = "machine.sapcloud.io";

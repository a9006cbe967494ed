// Objects as rows, for other views of the same machines: without the server and the page.
export { lifecycleSteps } from "./rows/lifecycle.ts";
export { deploymentRow, machineRow } from "./rows/rows.ts";
export type { DeploymentRow, MachineRow } from "./rows/rows.ts";

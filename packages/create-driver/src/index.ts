export { createDriver, folderProblem } from "./create-driver.ts";
export { driverNameOf, nameProblem } from "./driver-name.ts";

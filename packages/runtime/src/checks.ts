// What commands need that check a cluster with its drivers, or release it: without the controllers' process and its metrics, which take longer to load.
export { adoptVm } from "./backup/adopt-vm.ts";
export { exportFleet } from "./backup/export-fleet.ts";
export { restoreFleet } from "./backup/restore-fleet.ts";
export { diagnose } from "./doctor/diagnose.ts";
export type { DiagnosedSubject, Diagnosis } from "./doctor/diagnose.ts";
export { reportDrift } from "./drift/report-drift.ts";
export type { DriftReport, MachineDrift, ReportDriftOptions } from "./drift/report-drift.ts";
export { createDriverFinder, loadDriver } from "./drivers/load-driver.ts";
export { superviseProcess } from "./drivers/stray-errors.ts";
export { createJsonLog } from "./json-log.ts";
export { createManagerLeadership } from "./manager/leadership.ts";
export { planUninstall, uninstall } from "./uninstall/uninstall.ts";

export type { FleetReader, FollowedStore, ReportedCall, ReportedEvent } from "./fleet/fleet-reader.ts";
export { serveDashboard } from "./serve-dashboard.ts";
export type { Dashboard, DashboardOptions } from "./serve-dashboard.ts";

// The messages of proto/millwright/driver/v1/driver.proto as the protobuf library makes and takes them. What has its default may be absent.

/** Texts by name. */
export type Texts = Readonly<Record<string, string>>;

/** Data of a Secret by key. */
export type SecretBytes = Readonly<Record<string, Uint8Array>>;

export interface WireMachine {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly providerId?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly nodeAnnotations?: Texts;
}

export interface WireClass {
  readonly name?: string;
  readonly providerSpec?: string;
  readonly nodeTemplate?: string;
}

interface WireCallOptions {
  readonly recordExchanges?: boolean;
}

export interface WireError {
  readonly code?: number;
  readonly message?: string;
  readonly retryAfterMs?: number;
  readonly tokenIsSpent?: boolean;
  readonly lastKnownState?: string;
}

export interface WirePending {
  readonly message?: string;
  readonly checkAfterMs?: number;
}

export interface WireAddress {
  readonly type?: string;
  readonly address?: string;
}

export interface WireExchange {
  readonly method?: string;
  readonly url?: string;
  readonly requestHeaders?: Texts;
  readonly requestBody?: string;
  readonly status?: number;
  readonly responseHeaders?: Texts;
  readonly responseBody?: string;
  readonly error?: string;
  readonly seconds?: number;
}

export interface WireReport {
  readonly apiCalls?: readonly { readonly service?: string; readonly outcome?: string; readonly seconds?: number }[];
  readonly log?: readonly { readonly level?: number; readonly message?: string; readonly fields?: string }[];
  readonly exchanges?: readonly WireExchange[];
}

/** What every request but those about no machine and no class has. */
export interface WireRequest {
  readonly machine?: WireMachine;
  readonly machineClass?: WireClass;
  readonly secret?: SecretBytes;
  readonly idempotencyToken?: string;
  readonly userData?: Uint8Array;
  readonly volumes?: readonly string[];
  readonly options?: WireCallOptions;
}

/** What every response has, whatever else is in it. */
export interface WireOutcome {
  readonly error?: WireError | null;
  readonly report?: WireReport | null;
}

/** A VM in a response. */
export interface WireVm extends WireOutcome {
  readonly providerId?: string;
  readonly nodeName?: string;
  readonly addresses?: readonly WireAddress[];
}

export interface WireCreateResponse extends WireVm {
  readonly lastKnownState?: string;
  readonly pending?: WirePending | null;
}

export interface WireDeleteResponse extends WireOutcome {
  readonly vm?: number;
  readonly lastKnownState?: string;
  readonly pending?: WirePending | null;
}

export interface WireStatusResponse extends WireVm {
  readonly initialized?: boolean;
}

export interface WireListResponse extends WireOutcome {
  readonly machines?: readonly {
    readonly providerId?: string;
    readonly machineName?: string;
    readonly machineUid?: string;
    readonly machineNamespace?: string;
  }[];
  readonly complete?: boolean;
}

export interface WireVolumeIdsResponse extends WireOutcome {
  readonly volumeIds?: readonly string[];
}

export interface WireDriftResponse extends WireOutcome {
  readonly providerId?: string;
  readonly differences?: readonly { readonly field?: string; readonly wanted?: string; readonly found?: string }[];
}

export interface WireNodeTemplateResponse extends WireOutcome {
  readonly nodeTemplate?: string;
}

export interface WireChecksResponse extends WireOutcome {
  readonly checks?: readonly {
    readonly name?: string;
    readonly status?: number;
    readonly message?: string;
    readonly remedy?: string;
  }[];
}

export interface WireHandshakeRequest {
  readonly hostVersion?: string;
  readonly minContractVersion?: number;
  readonly maxContractVersion?: number;
}

export interface WireCapabilities {
  readonly classValidation?: boolean;
  readonly secretValidation?: boolean;
  readonly listMachines?: boolean;
  readonly initializeMachine?: boolean;
  readonly volumeIds?: boolean;
  readonly drift?: boolean;
  readonly nodeTemplate?: boolean;
  readonly classChecks?: boolean;
}

export interface WireHandshakeResponse {
  readonly name?: string;
  readonly version?: string;
  readonly minContractVersion?: number;
  readonly maxContractVersion?: number;
  readonly capabilities?: WireCapabilities | null;
  readonly providerSpecSchema?: string;
  readonly secretSchema?: string;
  readonly nodeMatch?: { readonly rule?: number; readonly templates?: readonly string[] } | null;
}

export interface WireValidateRequest {
  readonly providerSpec?: string;
  readonly secret?: SecretBytes;
  readonly checkSecret?: boolean;
  readonly forExistingVm?: boolean;
}

export interface WireProblem {
  readonly path?: readonly string[];
  readonly message?: string;
  readonly inSecret?: boolean;
}

export interface WireValidateResponse {
  readonly problems?: readonly WireProblem[];
}

/** Request and response of each rpc. */
export interface WireMethods {
  readonly Handshake: readonly [WireHandshakeRequest, WireHandshakeResponse];
  readonly ValidateClass: readonly [WireValidateRequest, WireValidateResponse];
  readonly CreateMachine: readonly [WireRequest, WireCreateResponse];
  readonly DeleteMachine: readonly [WireRequest, WireDeleteResponse];
  readonly GetMachineStatus: readonly [WireRequest, WireStatusResponse];
  readonly ListMachines: readonly [WireRequest, WireListResponse];
  readonly InitializeMachine: readonly [WireRequest, WireVm];
  readonly GetVolumeIds: readonly [WireRequest, WireVolumeIdsResponse];
  readonly FindDrift: readonly [WireRequest, WireDriftResponse];
  readonly GetNodeTemplate: readonly [WireRequest, WireNodeTemplateResponse];
  readonly CheckClass: readonly [WireRequest, WireChecksResponse];
}

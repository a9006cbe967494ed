// An OpenTelemetry Collector for tests: it receives OTLP, and prints each batch of spans that it received as one line of JSON, in the form of OTLP's files. It has no other
// parts, and so is built in about a minute.
package main

import (
	"context"
	"log"
	"os"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.uber.org/zap"
)

func newConfig() component.Config { return &struct{}{} }

// Prints spans as lines of JSON.
func newPrinter(ctx context.Context, set exporter.Settings, config component.Config) (exporter.Traces, error) {
	marshaler := &ptrace.JSONMarshaler{}
	return exporterhelper.NewTraces(ctx, set, config, func(_ context.Context, traces ptrace.Traces) error {
		line, err := marshaler.MarshalTraces(traces)
		if err == nil {
			_, err = os.Stdout.Write(append(line, '\n'))
		}
		return err
	})
}

func newLogger(context.Context, telemetry.LoggerSettings, component.Config) (*zap.Logger, component.ShutdownFunc, error) {
	logger, err := zap.NewProduction()
	return logger, func(context.Context) error { return nil }, err
}

func factories() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	printer := exporter.NewFactory(
		component.MustNewType("stdout"), newConfig, exporter.WithTraces(newPrinter, component.StabilityLevelDevelopment))
	exporters, err := otelcol.MakeFactoryMap[exporter.Factory](printer)
	if err != nil {
		return otelcol.Factories{}, err
	}
	own := telemetry.NewFactory(newConfig, telemetry.WithCreateLogger(newLogger))
	return otelcol.Factories{Receivers: receivers, Exporters: exporters, Telemetry: own}, nil
}

func main() {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "otel-collector", Version: "test"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
				DefaultScheme:     "file",
			},
		},
	})
	if err := command.Execute(); err != nil {
		log.Fatal(err)
	}
}

// Builds the program of a driver of MCM so that it serves Millwright. No file of the driver is changed: its main function finds package app of this module where MCM's was.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	mcm     = "github.com/gardener/machine-controller-manager"
	mcmApp  = "pkg/util/provider/app"
	adapter = "github.com/millwright-dev/millwright/drivers/go"
)

// replacement is all that is left of MCM's package app.
const replacement = `package app

import served "` + adapter + `/app"

var Run = served.Run
`

func main() {
	driver := flag.String("driver", "", "module of the driver with its version, such as example.com/driver@v1.2.3, or a folder with its go.mod")
	command := flag.String("package", "cmd/machine-controller", "package of the module that calls app.Run of MCM")
	output := flag.String("o", "driver", "file to write")
	flag.Parse()
	if err := build(*driver, *command, *output); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func build(driver, command, output string) error {
	if driver == "" {
		return errors.New("-driver: expected a module with its version, such as example.com/driver@v1.2.3, or a folder")
	}
	output, err := filepath.Abs(output)
	if err != nil {
		return err
	}
	own, err := run(".", "list", "-m", "-f", "{{.Dir}}", adapter)
	if err != nil {
		return fmt.Errorf("run it in the folder of %s: %w", adapter, err)
	}
	// The program is built in a module of its own, which has the requirements of both.
	folder, err := os.MkdirTemp("", "millwright-driver-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	module, requirement, err := require(driver)
	if err != nil {
		return err
	}
	language := strings.TrimPrefix(runtime.Version(), "go")
	goMod := fmt.Sprintf("module driver\n\ngo %s\n\nrequire %s v0.0.0\n\nreplace %s => %s\n%s", language, adapter, adapter, own, requirement)
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte(goMod), 0o600); err != nil {
		return err
	}
	if err := replaceApp(folder); err != nil {
		return err
	}
	_, err = run(folder, "build", "-mod=mod", "-trimpath", "-ldflags=-s -w", "-o", output, module+"/"+command)
	return err
}

// require returns the path of the driver's module, and the lines of go.mod for a driver in a folder.
func require(driver string) (module, lines string, err error) {
	if path, version, ok := strings.Cut(driver, "@"); ok && version != "" {
		return path, fmt.Sprintf("\nrequire %s %s\n", path, version), nil
	}
	folder, err := filepath.Abs(driver)
	if err != nil {
		return "", "", err
	}
	if module, err = run(folder, "list", "-m"); err != nil {
		return "", "", fmt.Errorf("-driver %s: expected a module with its version, or a folder with go.mod: %w", driver, err)
	}
	return module, fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, folder), nil
}

// replaceApp lets the program be built with a copy of MCM, of the version that the driver requires, whose package app is ours.
func replaceApp(folder string) error {
	if _, err := run(folder, "mod", "download", mcm); err != nil {
		return err
	}
	root, err := run(folder, "list", "-mod=mod", "-m", "-f", "{{.Dir}}", mcm)
	if err != nil {
		return err
	}
	copied := filepath.Join(folder, "mcm")
	if err := os.CopyFS(copied, os.DirFS(root)); err != nil {
		return err
	}
	app := filepath.Join(copied, filepath.FromSlash(mcmApp))
	files, err := filepath.Glob(filepath.Join(app, "*.go"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s has no package %s", mcm, mcmApp)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(app, "app.go"), []byte(replacement), 0o600); err != nil {
		return err
	}
	_, err = run(folder, "mod", "edit", "-replace", mcm+"=./mcm")
	return err
}

// run runs the go command in a folder, and returns what it prints.
func run(folder string, args ...string) (string, error) {
	command := exec.Command("go", args...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOWORK=off")
	var problems strings.Builder
	command.Stderr = &problems
	printed, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(problems.String()))
	}
	return strings.TrimSpace(string(printed)), nil
}

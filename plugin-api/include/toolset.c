/* A toolset in C, without dependencies. `repertoire tool build SKILL` builds it and copies it into the
 * skill, which names it as `toolsets/hello-toolset:HelloToolset`. By hand:
 *
 *     cc -O2 -shared -fPIC -fvisibility=hidden -o libhello_toolset.so toolset.c
 *
 * with `-I` and the directory of `repertoire.h`, if that is not beside it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "repertoire.h"

/* A toolset, with the configuration of its class. */
typedef struct {
    char *greeting;
} state;

static uint32_t create(repertoire_host *host, repertoire_text class_name, repertoire_text config,
                       void **toolset) {
    state *self = (state *)calloc(1, sizeof(state));
    (void)class_name; /* there is one */
    if (self == NULL) {
        return repertoire_fail(host, REPERTOIRE_FAILED, "no memory");
    }
    self->greeting = repertoire_string(config, "greeting");
    *toolset = self;
    return REPERTOIRE_OK;
}

static uint32_t describe(repertoire_host *host, void *toolset) {
    (void)toolset;
    host->write(host, repertoire_str(
        "{\"description\": \"Friendly greetings.\", \"tools\": [{"
        "  \"name\": \"greet\","
        "  \"description\": \"Greets somebody by name.\","
        "  \"annotations\": {\"readOnlyHint\": true},"
        "  \"parameters\": {"
        "    \"type\": \"object\","
        "    \"properties\": {"
        "      \"name\": {\"type\": \"string\", \"description\": \"Who to greet\"},"
        "      \"times\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100}"
        "    },"
        "    \"required\": [\"name\"],"
        "    \"additionalProperties\": false"
        "  }"
        "}]}"));
    return REPERTOIRE_OK;
}

static uint32_t greet(repertoire_host *host, const state *self, repertoire_text arguments) {
    const char *greeting = self->greeting == NULL ? "Hello" : self->greeting;
    char *name = repertoire_string(arguments, "name");
    size_t times = (size_t)repertoire_number(arguments, "times", 1), i, size;
    uint32_t result = REPERTOIRE_OK;
    char *line;
    if (name == NULL || *name == '\0') {
        free(name);
        return repertoire_fail(host, REPERTOIRE_INVALID_ARGUMENTS, "nobody to greet: `name` is empty");
    }
    size = strlen(greeting) + strlen(name) + 5;
    line = (char *)malloc(times * size);
    if (line == NULL) {
        free(name);
        return repertoire_fail(host, REPERTOIRE_FAILED, "no memory");
    }
    line[0] = '\0';
    for (i = 0; i < times && result == REPERTOIRE_OK; i++) {
        if (host->is_cancelled(host)) {
            result = repertoire_fail(host, REPERTOIRE_CANCELLED, "cancelled");
        }
        host->progress(host, (double)i / (double)times, repertoire_str("greeting"));
        snprintf(line + strlen(line), size, "%s%s, %s!", i == 0 ? "" : "\n", greeting, name);
    }
    if (result == REPERTOIRE_OK) {
        result = repertoire_answer(host, repertoire_str(line));
    }
    free(line);
    free(name);
    return result;
}

static uint32_t call(repertoire_host *host, void *toolset, repertoire_text tool,
                     repertoire_text arguments) {
    if (repertoire_is(tool, "greet")) {
        return greet(host, (const state *)toolset, arguments);
    }
    return repertoire_fail(host, REPERTOIRE_UNKNOWN_TOOL, "there is no such tool");
}

static void destroy(void *toolset) {
    free(((state *)toolset)->greeting);
    free(toolset);
}

REPERTOIRE_EXPORT("hello-toolset", "0.1.0", REPERTOIRE_CLASS(HelloToolset), create, describe, call,
                  destroy)

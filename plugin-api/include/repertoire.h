/* Tools for LLM agents in C, C++, and any language that can export C functions: a shared library of a
 * skill, without Rust. Needs C99 or C++11, and nothing but the standard library.
 *
 * A plugin defines four functions and names them once, in REPERTOIRE_EXPORT. Texts are UTF-8 with a
 * length, and most of them JSON. A host opens the library as it opens a plugin in Rust: the
 * same note, the same trust, the same child process and limits.
 *
 *     #include "repertoire.h"
 *
 *     static uint32_t create(repertoire_host *host, repertoire_text class_name,
 *                            repertoire_text config, void **toolset) { ... }
 *     ...
 *     REPERTOIRE_EXPORT("hello", "0.1.0", REPERTOIRE_CLASS(Hello), create, describe, call, destroy)
 *
 *     cc -O2 -shared -fPIC -fvisibility=hidden -o libhello.so hello.c
 *
 * Nothing may leave a function but by `return`: no C++ exception, no longjmp. Tools are called from
 * several threads at once.
 */
#ifndef REPERTOIRE_H
#define REPERTOIRE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The results of functions; other numbers are failures of kinds that a later version knows. */
enum {
    REPERTOIRE_OK = 0,
    REPERTOIRE_FAILED = 1,            /* the tool failed, in its own words */
    REPERTOIRE_INVALID_ARGUMENTS = 2, /* the model can do better with other arguments */
    REPERTOIRE_UNKNOWN_TOOL = 3,
    REPERTOIRE_CANCELLED = 4,        /* the tool stopped, since it was asked to */
    REPERTOIRE_DEADLINE_EXCEEDED = 6 /* the tool stopped, since its time is over */
};

/* A text of UTF-8, without a NUL at its end. */
typedef struct repertoire_text {
    const char *at;
    size_t len;
} repertoire_text;

/* The host, as long as a function runs. A later host has more functions behind these; `size` is that
 * of its structure in bytes. Host functions may be called from any thread. */
typedef struct repertoire_host repertoire_host;
struct repertoire_host {
    uint32_t size;
    const void *context; /* the host's own */
    /* Adds to the answer of the function that runs. */
    void (*write)(const repertoire_host *host, repertoire_text text);
    /* Returns 1 if the call should end soon. Ask in loops. */
    int32_t (*is_cancelled)(const repertoire_host *host);
    /* Reports progress, a fraction from 0 to 1. */
    void (*progress)(const repertoire_host *host, double fraction, repertoire_text message);
    /* Writes a line to the log: level 1 is an error, 2 a warning, 3 information, 4 and 5 are details. */
    void (*log)(const repertoire_host *host, uint32_t level, repertoire_text message);
    /* Asks the host something; `parameters` and the answer are JSON, a failure is a message, and
     * `result` one of the numbers above. The answer lives until the function that runs returns. The
     * method "repertoire/call-info" answers {"time_left": microseconds or null, "skill_dir": "..."}. */
    repertoire_text (*request)(const repertoire_host *host, repertoire_text method,
                               repertoire_text parameters, uint32_t *result);
};

/* The functions of a plugin. Each writes its answer with `host->write`, and returns one of the numbers
 * above; if that is a failure, the answer is a message, in words for the model. */
typedef struct repertoire_plugin {
    uint32_t size; /* of this structure, in bytes */
    /* Makes a toolset of a class. `config` is what the user configured for it, a JSON object. */
    uint32_t (*create)(repertoire_host *host, repertoire_text class_name, repertoire_text config,
                       void **toolset);
    /* Answers {"description": "...", "tools": [{"name": "...", "description": "...", "parameters":
     * the JSON schema of an object, "annotations": {"readOnlyHint": true}}]}. */
    uint32_t (*describe)(repertoire_host *host, void *toolset);
    /* Calls a tool. `arguments` is a JSON object that fits the schema. Answers {"output": "text for the
     * model", "title": "line for people", "metadata": {}}, of which only `output` is required. */
    uint32_t (*call)(repertoire_host *host, void *toolset, repertoire_text tool,
                     repertoire_text arguments);
    /* Frees a toolset that was made. */
    void (*destroy)(void *toolset);
} repertoire_plugin;

/* The marker of a plugin: plain data by which a host knows it before any of it runs. */
typedef struct repertoire_marker {
    char magic[8];
    uint32_t abi_major, abi_minor;
    uint32_t unwinds; /* 1: nothing aborts where Rust would panic */
    uint32_t note_len;
    const char *note;
} repertoire_marker;

#ifdef __cplusplus
}
#endif

/* ---- exporting ---- */

#ifdef __cplusplus
#define REPERTOIRE_C extern "C"
#else
#define REPERTOIRE_C
#endif

#if defined(_MSC_VER)
#pragma section(".repplug", read)
#define REPERTOIRE_SECTION __declspec(allocate(".repplug"))
#define REPERTOIRE_PUBLIC __declspec(dllexport)
#elif defined(_WIN32)
#define REPERTOIRE_SECTION __attribute__((section(".repplug"), used))
#define REPERTOIRE_PUBLIC __attribute__((dllexport, used))
#elif defined(__APPLE__)
#define REPERTOIRE_SECTION __attribute__((section("__DATA,__rep_plugin"), used))
#define REPERTOIRE_PUBLIC __attribute__((visibility("default"), used))
#else
#define REPERTOIRE_SECTION __attribute__((section(".note.repertoire_plugin"), used))
#define REPERTOIRE_PUBLIC __attribute__((visibility("default"), used))
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define REPERTOIRE_CPU "x86_64"
#elif defined(__aarch64__) || defined(_M_ARM64)
#define REPERTOIRE_CPU "aarch64"
#else
#define REPERTOIRE_CPU "unknown"
#endif
#if defined(_WIN32)
#define REPERTOIRE_SYSTEM "pc-windows"
#elif defined(__APPLE__)
#define REPERTOIRE_SYSTEM "apple-darwin"
#elif defined(__linux__)
#define REPERTOIRE_SYSTEM "unknown-linux"
#else
#define REPERTOIRE_SYSTEM "unknown"
#endif

/* A class in the list of REPERTOIRE_EXPORT; several are written as
 * REPERTOIRE_CLASS(One) "," REPERTOIRE_CLASS(Two). */
#define REPERTOIRE_CLASS(NAME) "\"" #NAME "\""

#define REPERTOIRE_NOTE(NAME, VERSION, CLASSES)                                                     \
    "{\"name\":\"" NAME "\",\"version\":\"" VERSION "\",\"classes\":[" CLASSES                      \
    "],\"panic\":\"none\",\"abi\":[1,0],\"target\":\"" REPERTOIRE_CPU "-" REPERTOIRE_SYSTEM "\"}"

/* The exports of a plugin: its name and version, its classes, and its four functions. Once in a
 * library. */
#define REPERTOIRE_EXPORT(NAME, VERSION, CLASSES, CREATE, DESCRIBE, CALL, DESTROY)                  \
    REPERTOIRE_SECTION static const struct {                                                       \
        uint32_t name_len, json_len, kind;                                                         \
        char name[12];                                                                             \
        char json[sizeof(REPERTOIRE_NOTE(NAME, VERSION, CLASSES))];                                \
    } repertoire_note = {11, sizeof(REPERTOIRE_NOTE(NAME, VERSION, CLASSES)) - 1, 1, "Repertoire", \
                         REPERTOIRE_NOTE(NAME, VERSION, CLASSES)};                                 \
    REPERTOIRE_C REPERTOIRE_PUBLIC const repertoire_marker repertoire_plugin_marker = {            \
        {'R', 'E', 'P', 'T', 'P', 'L', 'U', 'G'}, 1, 0, 1,                                         \
        sizeof(REPERTOIRE_NOTE(NAME, VERSION, CLASSES)) - 1, repertoire_note.json};                \
    REPERTOIRE_C REPERTOIRE_PUBLIC const repertoire_plugin repertoire_plugin_c_root = {            \
        sizeof(repertoire_plugin), CREATE, DESCRIBE, CALL, DESTROY};

/* ---- helpers; a library for JSON serves as well ---- */

/* The text of a string that ends with a NUL. */
static inline repertoire_text repertoire_str(const char *string) {
    repertoire_text text;
    text.at = string;
    text.len = strlen(string);
    return text;
}

/* Returns 1 if the text is this string. */
static inline int repertoire_is(repertoire_text text, const char *string) {
    return text.len == strlen(string) && memcmp(text.at, string, text.len) == 0;
}

/* Writes a failure's message, and returns `code`. */
static inline uint32_t repertoire_fail(repertoire_host *host, uint32_t code, const char *message) {
    host->write(host, repertoire_str(message));
    return code;
}

/* Writes a text as a JSON string. */
static inline void repertoire_write_json(repertoire_host *host, repertoire_text text) {
    static const char digits[] = "0123456789abcdef";
    size_t i, from = 0;
    host->write(host, repertoire_str("\""));
    for (i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        char escape[6] = {'\\', 'u', '0', '0', '0', '0'};
        repertoire_text plain, escaped;
        if (c >= 0x20 && c != '"' && c != '\\') {
            continue;
        }
        plain.at = text.at + from;
        plain.len = i - from;
        host->write(host, plain);
        escape[4] = digits[c >> 4];
        escape[5] = digits[c & 15];
        escaped.at = escape;
        escaped.len = sizeof(escape);
        host->write(host, escaped);
        from = i + 1;
    }
    text.at += from;
    text.len -= from;
    host->write(host, text);
    host->write(host, repertoire_str("\""));
}

/* Answers a text for the model. */
static inline uint32_t repertoire_answer(repertoire_host *host, repertoire_text output) {
    host->write(host, repertoire_str("{\"output\":"));
    repertoire_write_json(host, output);
    host->write(host, repertoire_str("}"));
    return REPERTOIRE_OK;
}

/* Finds the member `key` of a JSON object. Returns 1 and its value as JSON, or 0 if it has none. The
 * object must be sound, as arguments and configuration are; keys with escapes are not found. */
static inline int repertoire_find(repertoire_text object, const char *key, repertoire_text *value) {
    size_t i, start = 0, depth = 0, key_len = strlen(key);
    int in_string = 0, is_key = 1, is_it = 0;
    for (i = 0; i < object.len; i++) {
        char c = object.at[i];
        if (in_string) {
            if (c == '\\') {
                i++;
            } else if (c == '"') {
                in_string = 0;
                if (depth == 1 && is_key) {
                    is_it = i - start == key_len && memcmp(object.at + start, key, key_len) == 0;
                }
            }
            continue;
        }
        if (depth == 1 && (c == ',' || c == '}')) {
            if (is_it && !is_key) {
                while (start < i && strchr(" \t\r\n", object.at[start]) != NULL) {
                    start++;
                }
                value->at = object.at + start;
                value->len = i - start;
                return 1;
            }
            is_key = 1;
        }
        if (c == '"') {
            in_string = 1;
            start = depth == 1 && is_key ? i + 1 : start;
        } else if (c == ':' && depth == 1 && is_key) {
            is_key = 0;
            start = i + 1;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return 0;
}

/* Adds a code point as UTF-8. */
static inline size_t repertoire_utf8(uint32_t code, char *to) {
    unsigned char *at = (unsigned char *)to;
    if (code < 0x80) {
        at[0] = (unsigned char)code;
        return 1;
    }
    if (code < 0x800) {
        at[0] = (unsigned char)(0xC0 | code >> 6);
        at[1] = (unsigned char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        at[0] = (unsigned char)(0xE0 | code >> 12);
        at[1] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
        at[2] = (unsigned char)(0x80 | (code & 0x3F));
        return 3;
    }
    at[0] = (unsigned char)(0xF0 | code >> 18);
    at[1] = (unsigned char)(0x80 | (code >> 12 & 0x3F));
    at[2] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
    at[3] = (unsigned char)(0x80 | (code & 0x3F));
    return 4;
}

/* The number of the four hexadecimal digits at `at`. */
static inline uint32_t repertoire_hex(const char *at) {
    uint32_t number = 0;
    int i;
    for (i = 0; i < 4; i++) {
        char c = at[i];
        number = number << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return number;
}

/* The text of the member `key` of a JSON object, with a NUL at its end; NULL if it has no such member,
 * if that is not a string, or without memory. `free` it. */
static inline char *repertoire_string(repertoire_text object, const char *key) {
    repertoire_text json;
    size_t i, n = 0;
    char *text;
    if (!repertoire_find(object, key, &json) || json.len < 2 || json.at[0] != '"') {
        return NULL;
    }
    text = (char *)malloc(json.len);
    for (i = 1; text != NULL && i + 1 < json.len && json.at[i] != '"'; i++) {
        static const char names[] = "bfnrt", characters[] = "\b\f\n\r\t";
        const char *name;
        uint32_t code;
        if (json.at[i] != '\\') {
            text[n++] = json.at[i];
            continue;
        }
        i++;
        if (json.at[i] != 'u') {
            name = strchr(names, json.at[i]);
            text[n++] = name == NULL ? json.at[i] : characters[name - names];
            continue;
        }
        code = repertoire_hex(json.at + i + 1);
        i += 4;
        if (code >= 0xD800 && code < 0xDC00 && i + 6 < json.len && json.at[i + 1] == '\\') {
            code = 0x10000 + ((code - 0xD800) << 10) + repertoire_hex(json.at + i + 3) - 0xDC00;
            i += 6;
        }
        n += repertoire_utf8(code, text + n);
    }
    if (text != NULL) {
        text[n] = '\0';
    }
    return text;
}

/* The number that is the member `key` of a JSON object, or else `otherwise`. */
static inline double repertoire_number(repertoire_text object, const char *key, double otherwise) {
    repertoire_text json;
    char text[64];
    if (!repertoire_find(object, key, &json) || json.len == 0 || json.len >= sizeof(text) ||
        strchr("-0123456789", json.at[0]) == NULL) {
        return otherwise;
    }
    memcpy(text, json.at, json.len);
    text[json.len] = '\0';
    return strtod(text, NULL);
}

#endif

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *(*version)(void);
    void *plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
    void *symbol = plugin == NULL ? NULL : dlsym(plugin, "plugin_version");

    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    memcpy(&version, &symbol,
           sizeof version); /* ISO C converts no object pointer to a function's */
    puts(version());
    return dlclose(plugin);
}

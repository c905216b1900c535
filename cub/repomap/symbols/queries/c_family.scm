; What C and C++ have in common.
(union_specifier name: (type_identifier) @name body: (_) @body) @struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @enum

; typedef struct {…} name;
((type_definition type: (struct_specifier body: (_)) declarator: (type_identifier) @name @struct)
  (#set! prefix "struct "))
((type_definition type: (union_specifier body: (_)) declarator: (type_identifier) @name @struct)
  (#set! prefix "union "))
((type_definition type: (enum_specifier body: (_)) declarator: (type_identifier) @name @enum)
  (#set! prefix "enum "))

(preproc_function_def name: (identifier) @name value: (_)? @body) @macro
(preproc_def name: (identifier) @name value: (_) @body) @macro

; Variables between #ifdef, #else and #endif, and in braces: extern "C" {…}, namespaces
(preproc_ifdef (declaration declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (init_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (identifier) @name)
    ] value: (_) @body)
  ]) @variable)
(declaration_list (declaration declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (init_declarator declarator: [
      (identifier) @name
      (array_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (identifier) @name)
    ] value: (_) @body)
  ]) @variable)
